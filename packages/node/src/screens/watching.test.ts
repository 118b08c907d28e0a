/** What a watcher may rely on: it begins with the screen as it is, ends with the last one, and no program can choke it. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { addressOf, NODE_FRAME_BYTES_MAX, type ScreenFrame, type Session } from '@roost/protocol';
import type { Daemon } from '../daemon.ts';
import { startTestNode, TestClient, TestHome, waitFor } from '../node-for-test.ts';

let home: TestHome;
let daemon: Daemon;
let client: TestClient;

beforeEach(async () => {
  home = new TestHome();
  daemon = await startTestNode(home);
  client = await TestClient.connect(daemon.socket);
});
afterEach(async () => {
  client.close();
  await daemon.stop();
  await home.remove();
});

const run = (script: string) =>
  client.call('session.spawn', {
    directory: home.path,
    launch: { kind: 'command', command: ['sh', '-c', script] },
  });
const screens = (from: TestClient, { id }: Session): ScreenFrame[] =>
  from.frames.flatMap((frame) =>
    frame.kind === 'screen' && frame.session.sessionId === id ? [frame.frame] : [],
  );
const shows = (from: TestClient, session: Session, text: string) => () =>
  screens(from, session).at(-1)?.lines.includes(text) === true;

it('begins with the screen as it is, when the session is quiet and everybody else has left', async () => {
  const session = await run('echo quiet; sleep 60');
  await client.call('screen.watch', { sessions: 'all' });
  await waitFor(shows(client, session, 'quiet'), 'the screen');
  await client.call('screen.unwatch', {});
  for (let round = 0; round < 3; round += 1) {
    const next = await TestClient.connect(daemon.socket);
    await next.call('screen.watch', { sessions: 'all' });
    await waitFor(shows(next, session, 'quiet'), `the screen in round ${round}`);
    next.close();
    await next.closed;
  }
});

it('ends with the last screen, however soon the end comes after the one before', async () => {
  await client.call('screen.watch', { sessions: 'all' });
  for (let round = 0; round < 12; round += 1) {
    const session = await run(`read x; echo first; sleep 0.0${round % 4}; seq 1 200; echo last`);
    await waitFor(() => screens(client, session).length > 0, 'the first screen');
    await client.call('session.input', { ...addressOf(session), text: '\r', framing: 'raw' });
    await waitFor(shows(client, session, 'last'), `the last screen in round ${round}`, 5_000);
  }
});

it('gets the screen of a session that was over before it was known to run', async () => {
  await client.call('screen.watch', { sessions: 'all' });
  for (let round = 0; round < 12; round += 1) {
    const session = await run('echo brief');
    await waitFor(shows(client, session, 'brief'), `the only screen in round ${round}`, 5_000);
  }
});

it('is not choked by a program that prints more into one cell than a frame can hold', async () => {
  await client.call('screen.watch', { sessions: 'all' });
  const accents = "printf '\\314\\201%.0s' $(seq 1 10000)";
  const session = await run(
    `printf a; i=0; while [ $i -lt 300 ]; do ${accents}; i=$((i+1)); done; echo; echo done; sleep 60`,
  );
  await waitFor(shows(client, session, 'done'), 'the end of it', 45_000);
  const largest = Math.max(...client.frames.map((frame) => Buffer.byteLength(JSON.stringify(frame))));
  expect(largest).toBeLessThan(NODE_FRAME_BYTES_MAX);
  expect(client.socket.readyState).toBe(client.socket.OPEN);
});
