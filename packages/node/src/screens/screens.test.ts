import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { Terminal } from '@xterm/headless';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addressOf, type NodeFrame, type ScreenFrame, type Session } from '@roost/protocol';
import type { Daemon } from '../daemon.ts';
import { failureOf, startTestNode, TestClient, TestHome, waitFor } from '../node-for-test.ts';

type OutputFrame = Extract<NodeFrame, { kind: 'output' }>;

describe('lanes', () => {
  let home: TestHome;
  let daemon: Daemon;
  let client: TestClient;
  const clients: TestClient[] = [];

  const connect = async () => {
    const made = await TestClient.connect(daemon.socket);
    clients.push(made);
    return made;
  };
  const start = async () => {
    daemon = await startTestNode(home);
    client = await connect();
  };
  const run = (script: string, transport: 'pty' | 'pipe' = 'pty') =>
    client.call('session.spawn', {
      directory: home.path,
      transport,
      launch: { kind: 'command', command: ['sh', '-c', script] },
    });
  const type = (session: Session, text: string) =>
    client.call('session.input', { ...addressOf(session), text, framing: 'raw' });
  const screens = (from: TestClient, { id }: Session): ScreenFrame[] =>
    from.frames.flatMap((frame) =>
      frame.kind === 'screen' && frame.session.sessionId === id ? [frame.frame] : [],
    );
  const shows = (from: TestClient, session: Session, text: string) => () =>
    screens(from, session).at(-1)?.lines.join('\n').includes(text) === true;

  beforeEach(async () => {
    home = new TestHome();
    await start();
  });
  afterEach(async () => {
    for (const one of clients.splice(0)) one.close();
    await daemon.stop();
    await home.remove();
  });

  describe('of screens', () => {
    it('show a session as it is, as it changes, and as it ends', async () => {
      const session = await run('echo before; read x; echo after; read x; exit 3');
      await client.call('screen.watch', { sessions: 'all' });
      await waitFor(shows(client, session, 'before'), 'the first screen');
      await type(session, '\r');
      await waitFor(shows(client, session, 'after'), 'the change');
      await client.call('session.resize', { ...addressOf(session), size: { columns: 97, rows: 31 } });
      await waitFor(() => screens(client, session).at(-1)?.size.columns === 97, 'the new size');
      const sequences = screens(client, session).map(({ sequence }) => sequence);
      expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
    });

    it('show new sessions to who watches all, and only the named ones to who names them', async () => {
      const one = await run('echo one; sleep 60');
      const watcher = await connect();
      await watcher.call('screen.watch', { sessions: [one.id] });
      await client.call('screen.watch', { sessions: 'all' });
      const two = await run('echo two; sleep 60');
      await waitFor(shows(client, two, 'two'), 'the new session');
      await waitFor(shows(watcher, one, 'one'), 'the named one');
      expect(screens(watcher, two)).toEqual([]);
      await client.call('screen.unwatch', {});
    });

    it('draw what they are: the same text, cursor and size on a blank terminal', async () => {
      const session = await run('printf "\\033[31mred\\033[0m\\r\\n\\033[5;7Hhere\\033[?25l"; sleep 60');
      await client.call('screen.watch', { sessions: 'all' });
      await waitFor(shows(client, session, 'here'), 'the screen');
      const frame = screens(client, session).at(-1)!;
      const terminal = new Terminal({ cols: 80, rows: 24, allowProposedApi: true });
      await new Promise<void>((resolve) => terminal.write(frame.drawing, resolve));
      const { active } = terminal.buffer;
      const lines = frame.lines.map((_, row) => active.getLine(row)!.translateToString(true));
      expect(lines).toEqual(frame.lines);
      expect([active.cursorX, active.cursorY]).toEqual([frame.cursor.column, frame.cursor.row]);
      expect(frame.cursor.visible).toBe(false);
      expect(active.getLine(0)!.getCell(0)!.getFgColor()).toBe(1);
      terminal.dispose();
    });

    it('of a flood come one at a time: who reads sees the newest, who does not gets no backlog', async () => {
      const watcher = await connect();
      await watcher.call('screen.watch', { sessions: 'all' });
      const slow = await connect();
      await slow.call('screen.watch', { sessions: 'all' });
      const session = await run(
        'read x; i=0; while [ $i -lt 30000 ]; do i=$((i+1)); echo line $i; done; sleep 60',
      );
      await waitFor(() => screens(watcher, session).length > 0, 'the first screen');
      slow.socket.pause();
      const before = slow.frames.length;
      await type(session, '\r');
      await waitFor(shows(watcher, session, 'line 30000'), 'the end of the flood', 60_000);
      expect(screens(watcher, session).length).toBeLessThan(3_000);
      slow.socket.resume();
      await waitFor(shows(slow, session, 'line 30000'), 'the slow one to see the end');
      // What the sockets held when it stopped reading, and the newest.
      expect(slow.frames.length - before).toBeLessThan(500);
    });

    it('go on after a restart of the node, with the session at its keeper', async () => {
      const session = await run('echo up; read x; echo again; sleep 60');
      for (const one of clients.splice(0)) one.close();
      await daemon.stop();
      await start();
      await client.call('screen.watch', { sessions: 'all' });
      await waitFor(shows(client, session, 'up'), 'the screen');
      await type(session, '\r');
      await waitFor(shows(client, session, 'again'), 'the change');
    });
  });

  describe('of output', () => {
    const outputs = (from: TestClient, { id }: Session) =>
      from.frames.filter(
        (frame): frame is OutputFrame => frame.kind === 'output' && frame.session.sessionId === id,
      );
    const bytes = (frames: OutputFrame[]) =>
      Buffer.concat(frames.map((frame) => Buffer.from(frame.base64, 'base64')));
    const follow = (from: TestClient, { id: sessionId }: Session, offset = 0) =>
      from.call('session.followOutput', { sessionId, stream: 'stdout', offset });
    const ended = (from: TestClient, session: Session) => () => outputs(from, session).at(-1)?.ended === true;

    it('give every byte in order, from where each reader begins, and say once that it is over', async () => {
      const go = join(home.path, 'go');
      const session = await run(
        `seq 1 20000; while ! [ -e ${go} ]; do sleep 0.05; done; seq 20001 40000; exit 0`,
        'pipe',
      );
      const whole = Buffer.from(Array.from({ length: 40_000 }, (_, index) => `${index + 1}\n`).join(''));
      expect(await follow(client, session)).toEqual({ offset: 0 });
      await waitFor(() => bytes(outputs(client, session)).length > 100_000, 'the first part');
      const second = await connect();
      const { offset } = await follow(second, session, -500);
      writeFileSync(go, '');
      await waitFor(ended(client, session), 'the end');
      await waitFor(ended(second, session), 'the end for the second');
      expect(bytes(outputs(client, session)).equals(whole)).toBe(true);
      expect(bytes(outputs(second, session)).equals(whole.subarray(offset))).toBe(true);
      for (const from of [client, second]) {
        const frames = outputs(from, session);
        expect(frames.filter((frame) => frame.ended)).toHaveLength(1);
        for (const [index, frame] of frames.entries())
          expect(frame.offset).toBe(
            index === 0 ? (from === client ? 0 : offset) : frames[index - 1]!.nextOffset,
          );
      }
    });

    it('continue across a restart of the node, from the offset that was reached', async () => {
      const go = join(home.path, 'go');
      const session = await run(`echo one; while ! [ -e ${go} ]; do sleep 0.05; done; echo two`, 'pipe');
      await follow(client, session);
      await waitFor(() => outputs(client, session).length > 0, 'the first line');
      const { nextOffset } = outputs(client, session).at(-1)!;
      for (const one of clients.splice(0)) one.close();
      await daemon.stop();
      writeFileSync(go, '');
      await start();
      await follow(client, session, nextOffset);
      await waitFor(ended(client, session), 'the end');
      expect(bytes(outputs(client, session)).toString()).toBe('two\n');
    });

    it('are refused for terminals and for sessions that are not there', async () => {
      const session = await run('sleep 60');
      expect(await failureOf(follow(client, session))).toBe('unsupported-transport');
      expect(await failureOf(follow(client, { id: '0'.repeat(16) } as Session))).toBe('unknown-session');
      await client.call('session.unfollowOutput', { sessionId: session.id, stream: 'stdout' });
    });
  });
});
