/** The node as a process, when descriptors run out and when it is asked to go while somebody does not read. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { processStart } from '@roost/keeper/processes';
import { startNodeProcess, TestClient, TestHome, waitFor, type NodeProcess } from './node-for-test.ts';

/** Milliseconds: the two seconds that those who do not read are given, and what a busy machine takes for the rest. */
const STOP_MS = 5_000;

let home: TestHome;
let node: NodeProcess;
let pid: number;
const place = () => join(home.path, 'node.sock');

beforeEach(async () => {
  home = new TestHome();
  node = await startNodeProcess(home.path);
  if (node.child.pid === undefined) throw new Error('the node runs');
  pid = node.child.pid;
});
afterEach(async () => {
  node.child.kill('SIGKILL');
  await node.exit;
  await home.remove();
});

it.skipIf(spawnSync('prlimit', ['--version']).error !== undefined)(
  'without a descriptor left accepts nobody, keeps who is connected, and accepts again afterwards',
  async () => {
    const witness = await TestClient.connect(place());
    const open = () => readdirSync(`/proc/${pid}/fd`).length;
    const limit = open() + 8;
    execFileSync('prlimit', ['--pid', String(pid), `--nofile=${limit}:${limit}`]);
    const sockets: Socket[] = [];
    let closed = 0;
    for (let number = 0; number < 24; number += 1) {
      const socket = connect(place());
      socket.on('error', () => undefined).on('close', () => (closed += 1));
      sockets.push(socket);
    }
    await waitFor(() => open() >= limit - 2 || closed > 0, 'the descriptors to be used up');
    await expect(TestClient.connect(place())).rejects.toThrow();
    expect(await witness.call('workspace.list', {})).toEqual({ workspaces: [] });
    for (const socket of sockets) socket.destroy();
    await waitFor(
      () =>
        TestClient.connect(place()).then(
          (client) => {
            client.close();
            return true;
          },
          () => false,
        ),
      'a new client to be served',
    );
    expect((await witness.call('node.status', {})).pid).toBe(pid);
    witness.close();
  },
);

it('asked to stop answers, closes every connection, also of those that do not read, and ends', async () => {
  const client = await TestClient.connect(place());
  const session = await client.call('session.spawn', {
    directory: home.path,
    launch: { kind: 'command', command: ['sleep', '600'] },
  });
  const deaf = await TestClient.connect(place());
  for (let number = 0; number < 200; number += 1) {
    const { id } = await client.call('workspace.register', { root: '/' });
    await client.call('workspace.unregister', { workspaceId: id });
  }
  deaf.socket.pause();
  for (let number = 0; number < 100; number += 1)
    void deaf.call('events.read', { after: 0 }).catch(() => undefined);
  const silent = connect(place());
  silent.on('error', () => undefined);
  const silentClosed = new Promise((resolve) => silent.once('close', resolve));
  await new Promise((resolve) => silent.once('connect', resolve));

  const asked = performance.now();
  expect(await client.call('node.shutdown', { stopSessions: false })).toEqual({ stoppedSessions: 0 });
  expect((await client.closed).code).toBe(1001);
  expect(await node.exit).toEqual({ code: 0, signal: null });
  expect(performance.now() - asked).toBeLessThan(STOP_MS);
  await silentClosed;
  deaf.socket.resume();
  await deaf.closed;

  expect(session.pid === null ? null : processStart(session.pid)).not.toBeNull();
  node = await startNodeProcess(home.path);
  const next = await TestClient.connect(place());
  const { sessions } = await next.call('session.list', {});
  expect(sessions).toMatchObject([{ id: session.id, pid: session.pid, status: 'running' }]);
  next.close();
});
