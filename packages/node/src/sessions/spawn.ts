// Starting a session: intent (row and event), effect (the keeper's spawn), outcome (row and event). A node that dies in between
// finds the intent again and asks the keeper what became of it.
import { FailureError, SESSIONS_MAX, SessionId, type Session, type SpawnRequest } from '@roost/protocol';
import type { KeeperLink } from '../keepers/keeper-link.ts';
import type { KeeperPool } from '../keepers/keeper-pool.ts';
import { randomHexId } from '../node-identity.ts';
import type { Store, Transaction } from '../store/store.ts';
import { locate, type Location } from '../workspaces/locate.ts';
import { workspaceAround } from '../workspaces/workspaces.ts';
import { FINAL_SCROLLBACK_LINES } from './final-screen.ts';
import { planSession, type Launch, type LaunchSource } from './launch.ts';
import type { SessionLifecycle } from './lifecycle.ts';
import { makeSessionName } from './naming.ts';
import { newSessionRow } from './new-session-row.ts';
import { encodeNote, shownCommand } from './session-note.ts';
import {
  countSessions,
  deleteSession,
  findSession,
  insertSession,
  isNameLive,
  listSessions,
  isLive,
  sessionView,
  type SessionRow,
} from './session-table.ts';

/** Milliseconds for the keeper's answer to a spawn. */
const SPAWN_MS = 10_000;

export interface SpawnScene {
  readonly store: Store;
  readonly keepers: KeeperPool;
  readonly lifecycle: SessionLifecycle;
  readonly source: LaunchSource;
  /** Called when ended sessions made room: their files may go. */
  readonly evicted: () => void;
}

interface Intent {
  readonly row: SessionRow;
  readonly note: string;
  /** Ended sessions had to make room. */
  readonly evicted: boolean;
}

export async function spawnSession(scene: SpawnScene, request: SpawnRequest): Promise<Session> {
  const { store, keepers } = scene;
  const location = await locate(request.directory);
  if (location === null) throw new FailureError('invalid-directory', { directory: request.directory });
  const launch = planSession(request, location.directory, scene.source);
  const link = await keepers.place();
  try {
    if (!link.isConnected) throw link.unavailable();
    const intent = store.transact((transaction) =>
      recordIntent(transaction, { request, location, launch, link }),
    );
    if (intent.evicted) scene.evicted();
    await start(scene, intent, { request, launch, link });
    const row = findSession(store.sql, intent.row.id);
    return sessionView(row ?? intent.row, link.children.get(intent.row.id) ?? null);
  } finally {
    link.reserved -= 1;
  }
}

function recordIntent(
  transaction: Transaction,
  {
    request,
    location,
    launch,
    link,
  }: { request: SpawnRequest; location: Location; launch: Launch; link: KeeperLink },
): Intent {
  const { sql } = transaction;
  const evicted = makeRoom(transaction);
  const isTaken = (name: string) => isNameLive(sql, name);
  if (request.name !== undefined && isTaken(request.name)) {
    throw new FailureError('name-taken', { name: request.name });
  }
  const name = request.name ?? makeSessionName(launch.stem, isTaken);
  const workspace = workspaceAround(transaction, location);
  const createdAt = Date.now();
  const command = shownCommand(launch.argv);
  const row = newSessionRow({
    id: SessionId.parse(randomHexId()),
    recordId: null,
    generation: 1,
    name,
    provider: launch.provider,
    transport: request.transport,
    workspaceId: workspace.id,
    directory: location.directory,
    command,
    keeperId: link.id,
    size: request.transport === 'pty' ? request.size : null,
    createdAt,
    process: null,
  });
  insertSession(transaction, row);
  const note = encodeNote({
    version: 2,
    name,
    recordId: row.record_id,
    generation: row.generation,
    provider: launch.provider,
    workspaceRoot: workspace.root,
    directory: location.directory,
    command,
    createdAt,
  });
  return { row, note, evicted };
}

/** Ended sessions give way to new ones, the oldest first; live ones never do. true when any did. */
function makeRoom(transaction: Transaction): boolean {
  const { live, ended } = countSessions(transaction.sql);
  if (live >= SESSIONS_MAX) throw new FailureError('sessions-exhausted', { limit: SESSIONS_MAX });
  const excess = live + ended + 1 - SESSIONS_MAX;
  if (excess <= 0) return false;
  const oldest = listSessions(transaction.sql, true, -1).filter((row) => !isLive(row));
  for (const row of oldest.slice(0, excess)) deleteSession(transaction, row);
  return true;
}

async function start(
  { lifecycle }: SpawnScene,
  { row, note }: Intent,
  { request, launch, link }: { request: SpawnRequest; launch: Launch; link: KeeperLink },
): Promise<void> {
  let settled: () => void = () => undefined;
  lifecycle.spawning.set(row.id, new Promise((resolve) => (settled = resolve)));
  try {
    const state = await link.call(
      'spawn',
      {
        sessionId: row.id,
        transport: request.transport,
        file: launch.file,
        argv: launch.argv,
        directory: row.directory,
        environment: launch.environment,
        size: request.size,
        scrollbackLines: FINAL_SCROLLBACK_LINES,
        note,
      },
      SPAWN_MS,
    );
    lifecycle.spawning.delete(row.id);
    // An event that came before the answer knows more than the answer.
    const newest = link.children.get(row.id) ?? state;
    link.children.set(row.id, newest);
    lifecycle.started(link, newest);
  } catch (error) {
    lifecycle.spawning.delete(row.id);
    if (!(error instanceof FailureError)) throw error;
    if (error.failure.code === 'keeper-unavailable') {
      // Nobody knows whether it runs: a fresh connection begins with the answer.
      link.reconnect();
      throw new FailureError(
        'keeper-unavailable',
        { keeperId: link.id, sessionId: row.id },
        { cause: error },
      );
    }
    lifecycle.refused(row.id);
    throw new FailureError('spawn-failed', { ...error.failure.details, sessionId: row.id }, { cause: error });
  } finally {
    settled();
  }
}
