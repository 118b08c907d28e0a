/** A follower of output hears at once what comes, and at its own speed. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { NodeFrame } from '@roost/protocol';
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

const outputs = (from: TestClient) =>
  from.frames.filter((frame): frame is Extract<NodeFrame, { kind: 'output' }> => frame.kind === 'output');
const text = (from: TestClient) =>
  outputs(from)
    .map(({ base64 }) => Buffer.from(base64, 'base64').toString())
    .join('');

it('follows a session whose keeper answers again only after the node has begun to serve', async () => {
  const go = join(home.path, 'go');
  const session = await client.call('session.spawn', {
    directory: home.path,
    transport: 'pipe',
    launch: {
      kind: 'command',
      command: [
        'sh',
        '-c',
        `while ! [ -e ${go} ]; do sleep 0.05; done; echo heard; touch ${go}-ne; sleep 60`,
      ],
    },
  });
  client.close();
  await daemon.stop();
  const pids = home.keepers.map(({ pid }) => pid);
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  daemon = await startTestNode(home);
  client = await TestClient.connect(daemon.socket);
  expect(
    await client.call('session.followOutput', { sessionId: session.id, stream: 'stdout', offset: 0 }),
  ).toEqual({ offset: 0 });
  writeFileSync(go, '');
  await waitFor(() => existsSync(`${go}-ne`), 'the program to print');
  expect(text(client)).toBe('');
  for (const pid of pids) process.kill(pid, 'SIGCONT');
  await waitFor(() => text(client) === 'heard\n', 'the output', 20_000);
});

it('gives a reader that paused every byte once it reads again, and says once that it is over', async () => {
  const session = await client.call('session.spawn', {
    directory: home.path,
    transport: 'pipe',
    launch: { kind: 'command', command: ['sh', '-c', 'head -c 30000000 /dev/zero; exit 0'] },
  });
  const slow = await TestClient.connect(daemon.socket);
  await slow.call('session.followOutput', { sessionId: session.id, stream: 'stdout', offset: 0 });
  slow.socket.pause();
  await client.call('session.wait', { sessionId: session.id, waitMs: 30_000 });
  slow.socket.resume();
  await waitFor(() => outputs(slow).at(-1)?.ended === true, 'the end', 30_000);
  const frames = outputs(slow);
  expect(frames.at(-1)?.nextOffset).toBe(30_000_000);
  expect(frames.filter(({ ended }) => ended)).toHaveLength(1);
  for (const [index, frame] of frames.entries())
    expect(frame.offset).toBe(index === 0 ? 0 : frames[index - 1]!.nextOffset);
  slow.close();
});
