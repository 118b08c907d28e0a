import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processStart } from '@roost/keeper/processes';
import {
  failureOf,
  startNodeProcess,
  TestClient,
  TestHome,
  waitFor,
  type NodeProcess,
} from './node-for-test.ts';

/** Milliseconds for printing, on a busy machine. */
const PRINTING_MS = 40_000;
/** Prints for ten seconds and starts no process for it: the pause is a read of what nobody writes. */
const PRINT = `exec {idle}<> <(:); for ((i = 1; i <= 1000; i++)); do echo "n $i"; read -t 0.01 -u $idle; done; sleep 1000`;

describe('the node as a process', () => {
  let home: TestHome;
  let nodes: NodeProcess[];
  const socket = () => join(home.path, 'node.sock');

  const start = async () => {
    const node = await startNodeProcess(home.path);
    nodes.push(node);
    return node;
  };
  const kill = async (node: NodeProcess, signal: NodeJS.Signals = 'SIGKILL') => {
    node.child.kill(signal);
    return node.exit;
  };

  beforeEach(() => {
    home = new TestHome();
    nodes = [];
  });
  afterEach(async () => {
    for (const node of nodes) {
      node.child.kill('SIGCONT');
      await kill(node);
    }
    await home.remove();
  });

  it('tells that it is ready, serves, and on SIGTERM stops within two seconds and leaves sessions running', async () => {
    const node = await start();
    expect(node.told).toMatchObject({ ready: true, pid: node.child.pid });
    expect(statSync(socket()).mode & 0o777).toBe(0o600);
    expect(statSync(home.path).mode & 0o777).toBe(0o700);
    const client = await TestClient.connect(socket());
    const session = await client.call('session.spawn', {
      directory: home.path,
      launch: { kind: 'command', command: ['sleep', '60'] },
    });
    const waiting = client.call('session.wait', { sessionId: session.id, waitMs: 60_000 });
    expect(await kill(node, 'SIGTERM')).toEqual({ code: 0, signal: null });
    expect(await waiting).toMatchObject({ status: 'running' });
    expect((await client.closed).code).toBe(1001);
    expect(processStart(session.pid!)).not.toBeNull();
  });

  it('refuses a second node on the same home, also while the first one is stopped', async () => {
    const first = await start();
    for (const state of ['running', 'stopped'] as const) {
      if (state === 'stopped') first.child.kill('SIGSTOP');
      const second = await start();
      expect(await second.exit).toMatchObject({ code: 1 });
      expect(second.told.failure?.code).toBe('node-already-running');
    }
    first.child.kill('SIGCONT');
    const client = await TestClient.connect(socket());
    expect(await client.call('node.status', {})).toMatchObject({ pid: first.child.pid });
    client.close();
  });

  it('starts over the socket and lock of a crash', async () => {
    await kill(await start());
    expect(statSync(socket()).isSocket()).toBe(true);
    expect((await start()).told.ready).toBe(true);
    const client = await TestClient.connect(socket());
    expect(await client.call('workspace.list', {})).toEqual({ workspaces: [] });
    client.close();
  });

  it('listens again when its socket file is taken away, and keeps who is connected', async () => {
    await start();
    const before = await TestClient.connect(socket());
    rmSync(socket());
    await waitFor(() => {
      try {
        return statSync(socket()).isSocket();
      } catch {
        return false;
      }
    }, 'the socket to come back');
    const after = await TestClient.connect(socket());
    expect(await before.call('node.status', {})).toMatchObject({ connections: { open: 2 } });
    expect(await after.call('node.status', {})).toMatchObject({ connections: { open: 2 } });
    before.close();
    after.close();
  });

  it('is killed again and again while sessions print: no process changes, no line is missing, no list lies', async () => {
    let node = await start();
    let client = await TestClient.connect(socket());
    const print = (transport: 'pty' | 'pipe') =>
      client.call('session.spawn', {
        directory: home.path,
        transport,
        launch: {
          kind: 'command',
          command: ['bash', '-c', PRINT],
        },
      });
    const terminal = await print('pty');
    const pipe = await print('pipe');
    const mortal = await client.call('session.spawn', {
      directory: home.path,
      launch: { kind: 'command', command: ['bash', '-c', 'sleep 1.5; exit 5'] },
    });
    for (let round = 0; round < 8; round += 1) {
      const pause = 20 + Math.random() * 200;
      await new Promise((resolve) => setTimeout(resolve, pause));
      await kill(node);
      node = await start();
      client = await TestClient.connect(socket());
      const listed = async () => (await client.call('session.list', { includeEnded: true })).sessions;
      const sessions = await listed();
      for (const { id, pid, status } of sessions.filter((session) => session.id !== mortal.id))
        expect([id, status, processStart(pid!) !== null]).toEqual([id, 'running', true]);
      // Its end takes a moment to be told, whenever it is.
      await waitFor(async () => {
        const session = (await listed()).find(({ id }) => id === mortal.id);
        if (session?.status !== 'running') expect(session).toMatchObject({ status: 'exited', exitCode: 5 });
        return (session?.status === 'running') === (processStart(mortal.pid!) !== null);
      }, 'the list to tell whether it lives');
      expect(sessions.map(({ pid }) => pid).slice(0, 2)).toEqual([terminal.pid, pipe.pid]);
    }
    const expected = Array.from({ length: 1_000 }, (_, index) => `n ${index + 1}`);
    await waitFor(
      async () => {
        const screen = await client.call('session.readScreen', { sessionId: terminal.id, scrollback: 5_000 });
        return screen.lines.filter((line) => line !== '').length >= 1_000;
      },
      'all lines on the screen',
      PRINTING_MS,
    );
    const screen = await client.call('session.readScreen', { sessionId: terminal.id, scrollback: 5_000 });
    expect(screen.lines.filter((line) => line !== '')).toEqual(expected);
    let text = '';
    for (let offset = 0; text.split('\n').length <= 1_000;) {
      const page = await client.call('session.readOutput', {
        sessionId: pipe.id,
        stream: 'stdout',
        offset,
        waitMs: 5_000,
      });
      text += Buffer.from(page.base64, 'base64').toString();
      offset = page.nextOffset;
    }
    expect(text).toBe(expected.map((line) => `${line}\n`).join(''));
    client.close();
  });

  it('reports what was lost when node and keeper were both killed, and starts anew', async () => {
    const node = await start();
    const client = await TestClient.connect(socket());
    const session = await client.call('session.spawn', {
      directory: home.path,
      launch: { kind: 'command', command: ['bash', '-c', "trap '' HUP; sleep 1000"] },
    });
    const keepers = home.keepers;
    await kill(node);
    for (const { pid } of keepers) process.kill(pid, 'SIGKILL');
    await waitFor(() => home.keepers.length === 0, 'the keepers to end');
    await start();
    const after = await TestClient.connect(socket());
    const { sessions } = await after.call('session.list', { includeEnded: true });
    expect(sessions).toMatchObject([{ id: session.id, status: 'lost', endReason: 'keeper-died' }]);
    await waitFor(() => processStart(session.pid!) === null, 'leftovers to end');
    const left = readdirSync(join(home.path, 'keepers')).filter((name) =>
      keepers.some(({ id }) => name === `${id}.sock`),
    );
    expect(left).toEqual([]);
    after.close();
  });

  it('refuses a home that is too long for a socket, and says the limit', async () => {
    const node = await startNodeProcess(join(home.path, 'x'.repeat(100)));
    expect(node.told.failure?.code).toBe('home-path-too-long');
    expect(node.told.failure?.details).toMatchObject({ limit: expect.any(Number) as number });
    await node.exit;
  });

  it('refuses new work while it stops, but lets what runs finish', async () => {
    const node = await start();
    const client = await TestClient.connect(socket());
    await client.call('node.shutdown', {});
    const late = client.call('workspace.register', { root: '/' });
    expect(await failureOf(late)).toMatch(/^(shutting-down|connection-lost)$/);
    expect(await node.exit).toEqual({ code: 0, signal: null });
  });
});
