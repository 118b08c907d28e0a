import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addressOf, type Session } from '@roost/protocol';
import { processStart } from '@roost/keeper/processes';
import type { Daemon } from '../daemon.ts';
import { failureOf, startTestNode, TestClient, TestHome, waitFor } from '../node-for-test.ts';

describe('sessions on a real keeper', () => {
  let home: TestHome;
  let daemon: Daemon;
  let client: TestClient;

  const start = async () => {
    daemon = await startTestNode(home);
    client = await TestClient.connect(daemon.socket);
  };
  const restart = async () => {
    client.close();
    await daemon.stop();
    await start();
  };
  const run = (command: string[], more: { name?: string; transport?: 'pty' | 'pipe' } = {}) =>
    client.call('session.spawn', {
      directory: home.path,
      launch: { kind: 'command', command },
      ...(more as { transport?: 'pty' }),
    });
  const screenOf = async ({ id }: Session, scrollback = 0) =>
    (await client.call('session.readScreen', { sessionId: id, scrollback })).lines.join('\n');
  const ended = ({ id }: Session) => client.call('session.wait', { sessionId: id, waitMs: 20_000 });
  const list = async (includeEnded = true) => (await client.call('session.list', { includeEnded })).sessions;

  beforeEach(async () => {
    home = new TestHome();
    await start();
  });
  afterEach(async () => {
    client.close();
    await daemon.stop();
    await home.remove();
  });

  it('runs a command in a terminal, types into it and reads its screen', async () => {
    const session = await run(['bash', '--norc'], { name: 'a' });
    expect(session).toMatchObject({ name: 'a', status: 'running', provider: 'command', transport: 'pty' });
    await client.call('session.input', {
      ...addressOf(session),
      text: 'echo $((6*7))',
      framing: 'literal',
      submit: true,
    });
    await waitFor(async () => /^42$/m.test(await screenOf(session)), '42 on the screen');
  });

  it('keeps exit code and last screen of a session that has ended', async () => {
    const session = await run(['bash', '-c', 'for i in $(seq 200); do echo line $i; done; exit 7']);
    expect(await ended(session)).toMatchObject({
      status: 'exited',
      exitCode: 7,
      exitSignal: null,
      endReason: null,
    });
    await waitFor(
      () => existsSync(join(home.path, 'sessions', session.id, 'final-screen.json')),
      'the kept screen',
    );
    const kept = await client.call('session.readScreen', { sessionId: session.id, scrollback: 1_000 });
    expect(kept.lines).toContain('line 1');
    expect(kept.lines).toContain('line 200');
    expect(kept.cursor).toBeNull();
    const cut = await client.call('session.readScreen', { sessionId: session.id, scrollback: 5 });
    expect(cut).toMatchObject({ truncated: true });
    expect(cut.lines).toHaveLength(29);
  });

  it('tells death by a signal from a clean end', async () => {
    const session = await run(['bash', '-c', 'kill -9 $$']);
    expect(await ended(session)).toMatchObject({ status: 'exited', exitCode: null, exitSignal: 'SIGKILL' });
  });

  it('adopts running sessions after a restart of the node: same process, same screen', async () => {
    const session = await run(['bash', '-c', 'echo before; read line; echo got $line; sleep 60']);
    await waitFor(async () => (await screenOf(session)).includes('before'), 'the first line');
    await restart();
    expect(await list()).toMatchObject([{ id: session.id, status: 'running', pid: session.pid }]);
    await client.call('session.input', {
      ...addressOf(session),
      text: 'hello',
      framing: 'literal',
      submit: true,
    });
    await waitFor(async () => (await screenOf(session)).includes('got hello'), 'the answer');
  });

  it('says exited with its code of a session that ended while no node ran', async () => {
    const marker = join(home.path, 'go');
    const session = await run(['bash', '-c', `while ! [ -e ${marker} ]; do sleep 0.05; done; exit 9`]);
    client.close();
    await daemon.stop();
    writeFileSync(marker, '');
    await waitFor(() => processStart(session.pid!) === null, 'the child to end');
    await start();
    expect(await list()).toMatchObject([{ id: session.id, status: 'exited', exitCode: 9 }]);
    expect(await ended(session)).toMatchObject({ status: 'exited', exitCode: 9 });
  });

  it('rebuilds a session that the database lost from what its keeper holds', async () => {
    const session = await run(['sleep', '60'], { name: 'kept' });
    client.close();
    await daemon.stop();
    for (const suffix of ['', '-wal', '-shm']) rmSync(join(home.path, `node.db${suffix}`), { force: true });
    await start();
    expect(await list()).toMatchObject([
      {
        id: session.id,
        name: 'kept',
        status: 'running',
        pid: session.pid,
        recordId: session.recordId,
        command: ['sleep', '60'],
      },
    ]);
  });

  it('ends the whole tree on stop, also one that ignores SIGTERM and a descendant in its own kernel session', async () => {
    const session = await run([
      'bash',
      '-c',
      "trap '' TERM HUP; setsid sleep 1000 & echo child $!; wait; sleep 1000",
    ]);
    await waitFor(async () => (await screenOf(session)).includes('child'), 'the descendant');
    const stopped = await client.call('session.stop', { ...addressOf(session), graceMs: 300 });
    expect(stopped).toMatchObject({ forced: true, session: { status: 'exited', endReason: 'stopped' } });
    expect(stopped.processesEnded).toBeGreaterThanOrEqual(2);
    expect(processStart(session.pid!)).toBeNull();
  });

  it('refuses to remove a running session, and leaves nothing of a removed one', async () => {
    const session = await run(['sleep', '60']);
    expect(await failureOf(client.call('session.remove', addressOf(session)))).toBe('session-running');
    await client.call('session.stop', addressOf(session));
    await client.call('session.remove', addressOf(session));
    expect(await list()).toEqual([]);
    expect(existsSync(join(home.path, 'sessions', session.id))).toBe(false);
    await restart();
    expect(await list()).toEqual([]);
  });

  it('numbers names that are taken, refuses a taken one, and lets an ended session give its name away', async () => {
    const first = await run(['sleep', '60']);
    const second = await run(['sleep', '60']);
    expect([first.name, second.name]).toEqual(['sleep', 'sleep-2']);
    const named = () =>
      client.call('session.spawn', {
        name: 'sleep',
        directory: home.path,
        launch: { kind: 'command', command: ['sleep', '60'] },
      });
    expect(await failureOf(named())).toBe('name-taken');
    await client.call('session.stop', { ...addressOf(first), force: true });
    const third = await named();
    expect((await client.call('session.resolve', { selector: 'sleep' })).id).toBe(third.id);
    expect((await client.call('session.resolve', { selector: first.id.slice(0, 12) })).id).toBe(first.id);
    expect(await failureOf(client.call('session.resolve', { selector: 'nobody' }))).toBe('unknown-session');
  });

  it('delivers the output of a pipe session whole across restarts, by offset', async () => {
    const session = await run(
      [
        'bash',
        '-c',
        'for i in $(seq 1 3000); do echo "line $i"; [ $((i % 300)) = 0 ] && sleep 0.1; done; echo oops >&2',
      ],
      { transport: 'pipe' },
    );
    await restart();
    await restart();
    const read = async (stream: 'stdout' | 'stderr') => {
      let text = '';
      for (let offset = 0; ;) {
        const page = await client.call('session.readOutput', {
          sessionId: session.id,
          stream,
          offset,
          maxBytes: 1_000,
          waitMs: 5_000,
        });
        text += Buffer.from(page.base64, 'base64').toString();
        offset = page.nextOffset;
        if (page.ended) return text;
      }
    };
    const lines = Array.from({ length: 3_000 }, (_, index) => `line ${index + 1}\n`).join('');
    expect(await read('stdout')).toBe(lines);
    expect(await read('stderr')).toBe('oops\n');
    expect(await ended(session)).toMatchObject({ status: 'exited', exitCode: 0 });
    await restart();
    expect(await read('stdout')).toBe(lines);
  });

  it('reports sessions of a killed keeper as lost, ends what it left behind, and serves new ones', async () => {
    const sessions = [];
    for (let number = 0; number < 5; number += 1)
      sessions.push(await run(['bash', '-c', "trap '' HUP; sleep 1000"]));
    const other = await run(['sleep', '1000']);
    const [victim] = sessions;
    expect(other.keeperId).not.toBe(victim!.keeperId);
    process.kill(home.keepers.find(({ id }) => id === victim!.keeperId)!.pid, 'SIGKILL');
    await waitFor(
      async () => (await list()).filter(({ status }) => status === 'lost').length > 0,
      'lost sessions',
    );
    for (const session of await list()) {
      const expected =
        session.keeperId === victim!.keeperId
          ? { status: 'lost', endReason: 'keeper-died' }
          : { status: 'running' };
      expect(session).toMatchObject(expected);
    }
    await waitFor(() => processStart(victim!.pid!) === null, 'leftovers to end');
    expect(processStart(other.pid!)).not.toBeNull();
    expect(await run(['sleep', '1000'])).toMatchObject({ status: 'running' });
  });

  it('types twenty texts sent at once whole and in order', async () => {
    const session = await run(['bash', '-c', 'stty -echo; echo ready; cat']);
    await waitFor(async () => (await screenOf(session)).includes('ready'), 'cat');
    const texts = Array.from({ length: 20 }, (_, index) => `${index} ${'x'.repeat(60)}`);
    const send = (text: string) =>
      client.call('session.input', { ...addressOf(session), text, framing: 'literal', submit: true });
    await Promise.all(texts.map(send));
    await waitFor(async () => (await screenOf(session, 100)).includes(texts[19]!), 'the last text', 25_000);
    const lines = (await screenOf(session, 100)).split('\n');
    expect(lines.filter((line) => line.includes('xxx'))).toEqual(texts);
  });

  it('lets a forced stop overtake a gentle one', async () => {
    const session = await run(['bash', '-c', "trap '' TERM HUP; echo ready; while :; do sleep 0.1; done"]);
    await waitFor(async () => (await screenOf(session)).includes('ready'), 'the trap');
    const gentle = client.call('session.stop', { ...addressOf(session), graceMs: 60_000 });
    const forced = await client.call('session.stop', { ...addressOf(session), force: true });
    expect(forced.session).toMatchObject({ status: 'exited', endReason: 'stopped' });
    expect((await gentle).session.status).toBe('exited');
    const again = await client.call('session.stop', addressOf(session));
    expect(again).toMatchObject({ forced: false, processesEnded: 0 });
  });

  it('spreads many that come at once over the keepers', async () => {
    const sessions = await Promise.all(Array.from({ length: 12 }, () => run(['sleep', '1000'])));
    const { keepers } = await client.call('node.status', {});
    expect(new Set(sessions.map(({ name }) => name)).size).toBe(12);
    expect(keepers.map((keeper) => keeper.sessions).sort()).toEqual([6, 6]);
  });

  it('says why a launch cannot be', async () => {
    expect(await failureOf(run(['no-such-program-here']))).toBe('command-not-found');
    const inside = {
      directory: join(home.path, 'missing'),
      launch: { kind: 'command' as const, command: ['true'] },
    };
    expect(await failureOf(client.call('session.spawn', inside))).toBe('invalid-directory');
    const unknown = {
      directory: home.path,
      launch: { kind: 'provider' as const, provider: 'nobody', arguments: [] },
    };
    expect(await failureOf(client.call('session.spawn', unknown))).toBe('unknown-provider');
    expect(await list()).toEqual([]);
  });

  it('gives a session to its environment, and its values to no file', async () => {
    const secret = 'sesame-7f3a';
    const session = await client.call('session.spawn', {
      directory: home.path,
      launch: { kind: 'command', command: ['bash', '-c', 'echo "value ${#KEY}"; sleep 60'] },
      environment: { KEY: secret },
    });
    await waitFor(
      async () => (await screenOf(session)).includes(`value ${secret.length}`),
      'the value in the child',
    );
    for (const name of ['node.db', 'node.db-wal', 'logs/node.log']) {
      expect(readFileSync(join(home.path, name)).includes(secret)).toBe(false);
    }
  });

  it('measures processor and memory of the tree', async () => {
    await run(['bash', '-c', 'sleep 100 & wait']);
    await waitFor(async () => {
      const { sessions } = await client.call('session.list', { withUsage: true });
      return sessions[0]?.usage?.processes === 2 && sessions[0].usage.residentBytes > 100_000;
    }, 'two processes');
  });

  it('stops everything with the node when asked to', async () => {
    await run(['sleep', '60']);
    await run(['sleep', '60']);
    expect(await client.call('node.shutdown', { stopSessions: true })).toEqual({ stoppedSessions: 2 });
    await daemon.stopped;
    await start();
    expect((await list()).map(({ status }) => status)).toEqual(['exited', 'exited']);
  });
});
