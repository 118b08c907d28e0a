import { join } from 'node:path';
import { hubRequest } from '@roost/client';
import { addressOf, type Session } from '@roost/protocol';
import { freshName, type Context } from '../context.ts';
import { judgeBoard, measureBoard } from '../hub/board-viewer.ts';
import { HubProcess } from '../hub/hub-process.ts';
import { firstViewBytes } from '../hub/web-size.ts';
import { waitUntil } from '../processes.ts';
import { Samples, type SectionResult, type Verdict } from '../result.ts';
import { RoostSubject } from '../subjects/roost.ts';
import { COLUMNS, ROWS } from '../terminal.ts';

const FIRST_VIEW = 'first card on the board';
const SCRIPTS = 'JavaScript before the first view, compressed';
const KIB_MAX = 400;

export async function measureFirstBoard(context: Context): Promise<SectionResult> {
  const { scale, subjects, scratch, progress } = context;
  const samples = new Samples();
  const roost = subjects.find((subject) => subject instanceof RoostSubject);
  if (roost !== undefined) {
    const hub = await HubProcess.start(join(scratch, 'hub'), roost.target.socketPath);
    const sessions: Session[] = [];
    const node = await roost.connection();
    try {
      for (let index = 0; index < scale.boardSessions; index += 1) {
        sessions.push(
          await node.request('session.spawn', {
            name: freshName(),
            directory: roost.target.directory,
            launch: { kind: 'command', command: ['/bin/sh', '-c', 'seq 200; exec sleep 100000'] },
            size: { columns: COLUMNS, rows: ROWS },
          }),
        );
      }
      const areKnown = async () =>
        (await hubRequest(hub.owner, 'sessions.list', { limit: 1 })).total === sessions.length;
      await waitUntil('every session is known', areKnown);
      await measureBoard(hub, { views: scale.boardViews, name: FIRST_VIEW, home: scratch }, samples);
    } finally {
      for (const session of sessions)
        await node.request('session.stop', { ...addressOf(session), force: true });
      await hub.stop();
    }
    const [shown] = samples.of(`${FIRST_VIEW}, p50`, 'roost') ?? [];
    progress(shown === undefined ? 'no browser: the board is not measured' : `board: ${shown.toFixed(0)} ms`);
  }
  const bytes = firstViewBytes();
  if (bytes !== null) samples.add(SCRIPTS, 'KiB', 'roost', bytes / 1024);
  return {
    id: 'p',
    title: 'First view of the web UI',
    method:
      `The board of a hub with one node and ${scale.boardSessions} terminals with something on their screens, ${scale.boardViews} times, each time by a browser ` +
      '(headless Chromium, 1440 x 900) that is logged in and has nothing of the hub in its cache: from the begin of the navigation until ' +
      'the first session is painted.',
    measurements: samples.measurements,
    verdicts: [judgeBoard(samples, FIRST_VIEW), judgeScripts(bytes)],
  };
}

function judgeScripts(bytes: number | null): Verdict {
  const target = `${SCRIPTS}: less than ${KIB_MAX} KiB`;
  if (bytes === null) return { target, measured: 'not measured', met: null };
  return { target, measured: `${(bytes / 1024).toFixed(0)} KiB`, met: bytes / 1024 < KIB_MAX };
}
