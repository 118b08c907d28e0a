import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  unlinkSync,
  existsSync,
  writeFileSync,
} from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  encodeFrame,
  encodeJsonFrame,
  FrameReader,
  TerminalFrameKind,
  type DriveAsks,
} from '@roost/protocol/terminal-frames';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connectKeeper, KeeperFailure, type KeeperConnection } from './client.ts';
import { Screen } from './screen/screen.ts';
import { KeeperServer } from './server.ts';
import { KeeperFrameKind, type ChildLaunch, type ChildState } from './wire.ts';

let directory: string;
let socketPath: string;
let server: KeeperServer;
let keeper: KeeperConnection;
let sessions = 0;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'roost-keeper-'));
  socketPath = join(directory, 'k.sock');
  server = new KeeperServer({ keeperId: 'a'.repeat(16), version: 'test' }, socketPath);
  await server.listen();
  keeper = await connectKeeper(socketPath, { timeoutMs: 20_000 });
});

afterEach(async () => {
  for (const { sessionId, exit } of server.children.list()) {
    if (exit === null) await server.children.stop(sessionId, 0);
    server.children.release(sessionId);
  }
  keeper.close();
  server.close();
  rmSync(directory, { recursive: true, force: true });
});

function launch(script: string, overrides: Partial<ChildLaunch> = {}): ChildLaunch {
  sessions += 1;
  return {
    sessionId: sessions.toString(16).padStart(16, '0'),
    transport: 'pty',
    file: '/bin/sh',
    argv: ['sh', '-c', script],
    directory,
    environment: { PATH: process.env.PATH ?? '/bin:/usr/bin' },
    size: { columns: 80, rows: 24 },
    scrollbackLines: 5_000,
    note: '{}',
    ...overrides,
  };
}

async function until<T>(
  what: string,
  probe: () => T | null | Promise<T | null>,
  timeoutMs = 40_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await probe();
    if (value !== null) return value;
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await delay(10);
  }
}

const stateOf = async (sessionId: string): Promise<ChildState | null> =>
  (await keeper.call('list', {})).children.find((one) => one.sessionId === sessionId) ?? null;
const exitOf = (sessionId: string) =>
  until('the exit', async () => {
    const state = await stateOf(sessionId);
    return state?.exit ? state : null;
  });
const screenOf = async (sessionId: string, scrollback = 0) =>
  (await keeper.call('readScreen', { sessionId, scrollback })).lines;

/** A client of the terminal lane that can stop showing what it gets. */
class Client {
  readonly screen: Screen;
  readonly kinds: number[] = [];
  role = '';
  asks: DriveAsks['asks'] = [];
  ended: { exitCode: number | null; exitSignal: string | null } | null = null;
  refused: string | null = null;
  acknowledging = true;
  received = 0;
  readonly #socket: Socket;
  #owed = 0;

  constructor(ticket: string, columns = 80, rows = 24) {
    this.screen = new Screen({
      columns,
      rows,
      scrollbackLines: 1_000,
      answer: () => undefined,
      changed: () => undefined,
    });
    this.#socket = createConnection(socketPath);
    this.#socket.write(
      encodeJsonFrame(TerminalFrameKind.attach, { version: 1, ticket, columns, rows, window: 65_536 }),
    );
    const reader = new FrameReader(64 * 1024 * 1024);
    this.#socket.on('data', (chunk: Buffer) => {
      for (const { kind, payload } of reader.push(chunk)) this.#receive(kind, payload);
    });
    this.#socket.on('error', () => undefined);
  }

  #receive(kind: number, payload: Uint8Array): void {
    this.kinds.push(kind);
    const json = () => JSON.parse(Buffer.from(payload).toString()) as never;
    if (kind === TerminalFrameKind.screen || kind === TerminalFrameKind.output) {
      this.received += payload.length;
      this.screen.write(payload);
      this.#owed += payload.length;
      if (this.acknowledging) this.acknowledge();
    } else if (kind === TerminalFrameKind.attached || kind === TerminalFrameKind.role) {
      this.role = (json() as { role: string }).role;
    } else if (kind === TerminalFrameKind.asks) this.asks = (json() as DriveAsks).asks;
    else if (kind === TerminalFrameKind.ended) this.ended = json();
    else if (kind === TerminalFrameKind.refused) this.refused = (json() as { code: string }).code;
  }

  acknowledge(): void {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setUint32(0, this.#owed);
    this.#owed = 0;
    this.#socket.write(encodeFrame(TerminalFrameKind.acknowledge, bytes));
  }

  type(text: string): void {
    this.#socket.write(encodeFrame(TerminalFrameKind.input, Buffer.from(text)));
  }

  takeOver(): void {
    this.send(TerminalFrameKind.takeOver);
  }

  send(kind: number, payload?: unknown): void {
    this.#socket.write(payload === undefined ? encodeFrame(kind) : encodeJsonFrame(kind, payload));
  }

  text(): string {
    return this.screen.readText(0).lines.join('\n');
  }

  close(): void {
    this.#socket.destroy();
  }
}

async function attach(
  sessionId: string,
  mode: 'drive' | 'watch' = 'drive',
  columns = 80,
  rows = 24,
): Promise<Client> {
  const { ticket } = await keeper.call('grantAttach', { sessionId, mode });
  const client = new Client(ticket, columns, rows);
  await until('the attach answer', () => (client.role !== '' || client.refused !== null ? client : null));
  return client;
}

describe('a terminal child', () => {
  it('tells its exit code, with everything that it printed on the screen before', async () => {
    const { sessionId } = await keeper.call(
      'spawn',
      launch('for i in $(seq 1 3000); do echo "line $i"; done; exit 7'),
    );
    const state = await exitOf(sessionId);
    expect(state.exit).toMatchObject({ exitCode: 7, exitSignal: null });
    const lines = await screenOf(sessionId, 5_000);
    expect(lines.filter((line) => line.startsWith('line '))).toEqual(
      Array.from({ length: 3_000 }, (_, index) => `line ${index + 1}`),
    );
  });

  it('loses nothing of a flood that ends with the program, twenty times, while the reader is busy', async () => {
    const flood = 'head -c 300000 /dev/zero | tr "\\0" x; printf "\\nEND\\n"; exit 0';
    const busy = setInterval(() => {
      const until = performance.now() + 3;
      while (performance.now() < until);
    }, 1);
    try {
      for (let round = 0; round < 20; round += 1) {
        const { sessionId } = await keeper.call('spawn', launch(flood));
        await exitOf(sessionId);
        expect(await screenOf(sessionId)).toContain('END');
        await keeper.call('release', { sessionId });
      }
    } finally {
      clearInterval(busy);
    }
  });

  it('tells a death by signal as a signal, never as code 0', async () => {
    const { sessionId } = await keeper.call('spawn', launch('kill -KILL $$'));
    expect((await exitOf(sessionId)).exit).toMatchObject({ exitCode: null, exitSignal: 'SIGKILL' });
  });

  it('has a terminal of the asked size, follows a resize, and knows its terminal variables', async () => {
    const script =
      'stty size; echo "$TERM $COLORTERM"; trap "stty size; exit" WINCH; while :; do sleep 0.05; done';
    const { sessionId } = await keeper.call('spawn', launch(script, { size: { columns: 97, rows: 31 } }));
    await until('the size', async () =>
      (await screenOf(sessionId)).includes('xterm-256color truecolor') ? true : null,
    );
    await keeper.call('resize', { sessionId, columns: 60, rows: 20 });
    await exitOf(sessionId);
    expect(await screenOf(sessionId, 50)).toEqual(expect.arrayContaining(['31 97', '20 60']));
  });

  it('prints on when nobody is attached, and pauses for nobody', async () => {
    const { sessionId } = await keeper.call(
      'spawn',
      launch('head -c 10000000 /dev/zero | tr "\\0" x; echo; echo done'),
    );
    await exitOf(sessionId);
    expect(await screenOf(sessionId)).toContain('done');
  });

  it('takes spawn once per session id', async () => {
    const one = launch('sleep 60');
    const [first, second] = await Promise.all([keeper.call('spawn', one), keeper.call('spawn', one)]);
    expect(second.pid).toBe(first.pid);
    expect((await keeper.call('list', {})).children).toHaveLength(1);
  });

  it('says why a program cannot be started', async () => {
    const failed = keeper.call('spawn', launch('', { transport: 'pipe', file: '/nonexistent' }));
    await expect(failed).rejects.toMatchObject({ code: 'spawn-failed', details: { reason: 'ENOENT' } });
  });

  it('keeps concurrent inputs whole', async () => {
    const reader = 'stty raw -echo; printf ready; head -c 220 > got';
    const { sessionId } = await keeper.call('spawn', launch(reader));
    await until('the reader', async () =>
      (await screenOf(sessionId))[0]?.startsWith('ready') ? true : null,
    );
    const texts = Array.from({ length: 20 }, (_, index) => String.fromCharCode(97 + index).repeat(10));
    await Promise.all(
      texts.map((text) => keeper.call('input', { sessionId, text, framing: 'literal', submit: true })),
    );
    await exitOf(sessionId);
    expect(readFileSync(join(directory, 'got'), 'latin1')).toBe(texts.map((text) => `${text}\r`).join(''));
  });
});

describe('the terminal lane', () => {
  it('draws the screen, then follows, and ends with the exit', async () => {
    const { sessionId } = await keeper.call('spawn', launch('echo before; read x; echo "got $x"; exit 3'));
    await until('output', async () => ((await screenOf(sessionId)).includes('before') ? true : null));
    const client = await attach(sessionId);
    expect(client.role).toBe('driver');
    await until('the screen', () => (client.text().includes('before') ? true : null));
    client.type('hello\r');
    await until('the end', () => client.ended);
    expect(client.text()).toContain('got hello');
    expect(client.ended).toEqual({ exitCode: 3, exitSignal: null });
  });

  it('refuses an unknown ticket and a used one', async () => {
    const { sessionId } = await keeper.call('spawn', launch('sleep 60'));
    const { ticket } = await keeper.call('grantAttach', { sessionId, mode: 'drive' });
    const first = new Client(ticket);
    await until('attached', () => (first.role === 'driver' ? true : null));
    for (const bad of [ticket, 'nonsense']) {
      const client = new Client(bad);
      expect(await until('the refusal', () => client.refused)).toBe('attach-refused');
    }
    first.close();
  });

  it('lets one drive: watchers and second clients neither type nor resize until they take over', async () => {
    const { sessionId } = await keeper.call('spawn', launch('cat'));
    const driver = await attach(sessionId, 'drive', 100, 30);
    const second = await attach(sessionId, 'drive', 60, 20);
    const watcher = await attach(sessionId, 'watch', 50, 15);
    expect([driver.role, second.role, watcher.role]).toEqual(['driver', 'watcher', 'watcher']);
    watcher.type('watcher ');
    watcher.takeOver();
    second.type('second ');
    driver.type('driver ');
    await until('typing', async () => ((await screenOf(sessionId))[0] === 'driver' ? true : null));
    expect((await stateOf(sessionId))?.size).toEqual({ columns: 100, rows: 30 });
    second.takeOver();
    await until('the take-over', () => (second.role === 'driver' && driver.role === 'watcher' ? true : null));
    expect((await stateOf(sessionId))?.size).toEqual({ columns: 60, rows: 20 });
    second.type('now ');
    await until('typing', async () => ((await screenOf(sessionId))[0] === 'driver now' ? true : null));
    second.close();
    await until('the only one left that may', () => (driver.role === 'driver' ? true : null));
    await until('its size', async () => ((await stateOf(sessionId))?.size?.columns === 100 ? true : null));
    expect((await stateOf(sessionId))?.attachedClients).toBe(2);
  });

  it('brings what is asked to the driver by the name that the node told, and the answer back', async () => {
    const { sessionId } = await keeper.call('spawn', launch('cat'));
    const driver = await attach(sessionId, 'drive', 100, 30);
    const { ticket } = await keeper.call('grantAttach', { sessionId, mode: 'drive', clientName: 'web:ada' });
    const asker = new Client(ticket, 60, 20);
    await until('the asker', () => (asker.role === 'watcher' ? true : null));
    asker.send(TerminalFrameKind.askToDrive);
    const [ask] = await until('the question', () => (driver.asks.length > 0 ? driver.asks : null));
    expect(ask?.clientName).toBe('web:ada');
    for (const nonsense of [undefined, { client: 'web:ada', handOver: true }])
      driver.send(TerminalFrameKind.answerAsk, nonsense);
    driver.send(TerminalFrameKind.answerAsk, { client: ask?.client, handOver: false });
    await until('that it is kept', () => (asker.kinds.includes(TerminalFrameKind.kept) ? true : null));
    expect([driver.role, asker.role, driver.asks]).toEqual(['driver', 'watcher', []]);
    asker.send(TerminalFrameKind.askToDrive);
    await until('the question', () => (driver.asks.length > 0 ? true : null));
    driver.send(TerminalFrameKind.answerAsk, { client: ask?.client, handOver: true });
    await until('that it drives', () => (asker.role === 'driver' ? true : null));
    expect((await stateOf(sessionId))?.size).toEqual({ columns: 60, rows: 20 });
    for (const client of [driver, asker]) client.close();
  });

  it('never waits for a client that stopped reading, and shows it the right screen afterwards', async () => {
    const flood =
      'chunk=$(head -c 4000 /dev/zero | tr "\\0" x); read go; yes "$chunk" | head -n 3000; echo over; read x';
    const { sessionId } = await keeper.call('spawn', launch(flood));
    const slow = await attach(sessionId);
    slow.acknowledging = false;
    slow.type('\n');
    await until(
      'the flood to pass',
      async () => ((await screenOf(sessionId)).includes('over') ? true : null),
      60_000,
    );
    expect(slow.received).toBeLessThan(1_000_000);
    slow.acknowledging = true;
    slow.acknowledge();
    const right = (await screenOf(sessionId)).join('\n');
    await until('the fresh screen', () => (slow.text() === right ? true : null));
    slow.close();
  }, 90_000);

  it('answers a terminal query once, with a client that answers too', async () => {
    // Everything that is typed, byte by byte, up to a `k`.
    const bytes =
      'while :; do c=$(dd bs=1 count=1 2>/dev/null | od -An -c); printf "%s " $c; [ $c = k ] && break; done';
    const ask = `stty raw -echo; printf "\\033[c"; printf "\\r\\nasked\\r\\n"; ${bytes}; echo over`;
    const { sessionId } = await keeper.call('spawn', launch(ask));
    const client = await attach(sessionId);
    await until('the query', async () => ((await screenOf(sessionId)).includes('asked') ? true : null));
    client.type('\x1b[?62;22c');
    client.type('k');
    await exitOf(sessionId);
    const shown = (await screenOf(sessionId, 50)).join(' ');
    expect(shown.match(/033/g)).toHaveLength(1);
    expect(shown).toContain('k');
  });
});

describe('a pipe child', () => {
  const collect = (link: KeeperConnection) => {
    const got = { stdout: '', stderr: '' };
    link.onPipeOutput((_, stream, offset, bytes) => {
      expect(offset).toBe(got[stream].length);
      got[stream] += Buffer.from(bytes).toString('latin1');
    });
    return got;
  };

  it('keeps its output from the first byte until it is acknowledged, across connections', async () => {
    const script = 'echo out1; echo err1 >&2; read x; echo "out2 $x"; exit 4';
    const { sessionId } = await keeper.call('spawn', launch(script, { transport: 'pipe' }));
    const first = collect(keeper);
    await keeper.call('followOutput', { sessionId, offsets: { stdout: 0, stderr: 0 } });
    await until('the first lines', () =>
      first.stdout === 'out1\n' && first.stderr === 'err1\n' ? true : null,
    );
    await keeper.call('acknowledge', { sessionId, stream: 'stdout', offset: 2 });
    keeper.close();
    keeper = await connectKeeper(socketPath, { timeoutMs: 20_000 });
    await keeper.call('input', { sessionId, text: 'hi', framing: 'raw', submit: true });
    const state = await exitOf(sessionId);
    expect(state.exit).toMatchObject({ exitCode: 4 });
    expect(state.output).toEqual({ stdout: { floor: 2, end: 13 }, stderr: { floor: 0, end: 5 } });
    let rest = '';
    keeper.onPipeOutput((_, stream, offset, bytes) => {
      if (stream === 'stdout') expect(offset).toBe(2 + rest.length);
      if (stream === 'stdout') rest += Buffer.from(bytes).toString();
    });
    await keeper.call('followOutput', { sessionId, offsets: { stdout: 2, stderr: 5 } });
    await until('the rest', () => (rest === 't1\nout2 hi\n' ? true : null));
    await keeper.call('release', { sessionId });
    expect(await stateOf(sessionId)).toBeNull();
  });

  it('pauses at the cap while nobody acknowledges, and delivers every byte', async () => {
    const total = 24 * 1024 * 1024;
    const { sessionId } = await keeper.call(
      'spawn',
      launch(`head -c ${total} /dev/zero`, { transport: 'pipe' }),
    );
    await until('the cap', async () => {
      const end = (await stateOf(sessionId))?.output?.stdout.end ?? 0;
      return end >= 8 * 1024 * 1024 ? end : null;
    });
    const before = (await stateOf(sessionId))?.output?.stdout.end;
    expect(before).toBeLessThan(10 * 1024 * 1024);
    let received = 0;
    keeper.onPipeOutput((_, stream, offset, bytes) => {
      expect(offset).toBe(received);
      received += bytes.length;
      void keeper.call('acknowledge', { sessionId, stream, offset: received });
    });
    await keeper.call('followOutput', { sessionId, offsets: { stdout: 0, stderr: 0 } });
    await until('every byte', () => (received === total ? true : null), 30_000);
    expect((await exitOf(sessionId)).exit).toMatchObject({ exitCode: 0 });
  });

  it('interrupts the process group', async () => {
    const { sessionId } = await keeper.call('spawn', launch('echo up; exec sleep 60', { transport: 'pipe' }));
    await until('the program to run', async () =>
      (await stateOf(sessionId))?.output?.stdout.end === 3 ? true : null,
    );
    await keeper.call('interrupt', { sessionId });
    expect((await exitOf(sessionId)).exit).toMatchObject({ exitSignal: 'SIGINT' });
  });
});

describe('stopping', () => {
  it('ends the whole tree, also what left the session and what ignores SIGTERM', async () => {
    const script =
      'trap "" TERM HUP; setsid sh -c "trap \\"\\" TERM HUP; echo in \\$\\$; sleep 300" & (sleep 301 &) ; echo root $$; while :; do sleep 1; done';
    const { sessionId } = await keeper.call('spawn', launch(script));
    await until('the tree', async () => {
      const text = (await screenOf(sessionId)).join('\n');
      return text.includes('in ') && text.includes('root ') ? true : null;
    });
    const outcome = await keeper.call('stop', { sessionId, graceMs: 200 });
    expect(outcome.forced).toBe(true);
    expect(outcome.processesEnded).toBeGreaterThanOrEqual(4);
    expect(outcome.state.exit).not.toBeNull();
  });

  it('refuses to release what runs', async () => {
    const { sessionId } = await keeper.call('spawn', launch('sleep 60'));
    await expect(keeper.call('release', { sessionId })).rejects.toMatchObject({ code: 'session-running' });
  });
});

describe('the keeper', () => {
  it('answers what it does not understand and lives on', async () => {
    for (const garbage of [
      Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      Buffer.alloc(100),
      Buffer.alloc(70_000, 0xff),
      encodeFrame(64, Buffer.from('{')),
    ]) {
      const socket = createConnection(socketPath);
      socket.on('error', () => undefined);
      socket.write(garbage);
      await until('the keeper to hang up', () => (socket.closed ? true : null), 8_000);
    }
    const bad = keeper.call('spawn', { sessionId: 5 } as never);
    await expect(bad).rejects.toBeInstanceOf(KeeperFailure);
    await expect(keeper.call('nonsense' as never, {} as never)).rejects.toMatchObject({
      code: 'invalid-request',
    });
    await expect(keeper.call('readScreen', { sessionId: 'none', scrollback: 0 })).rejects.toMatchObject({
      code: 'unknown-session',
    });
    expect((await keeper.call('status', {})).children).toBe(0);
  });

  it('listens again when its socket file is removed', async () => {
    unlinkSync(socketPath);
    await until('a new socket', () => (existsSync(socketPath) ? true : null));
    const again = await connectKeeper(socketPath, { timeoutMs: 20_000 });
    expect(again.welcome.keeperId).toBe('a'.repeat(16));
    again.close();
    expect((await keeper.call('status', {})).children).toBe(0);
    // /proc/net/unix: a listening socket has the flag 00010000, and keeps the path that it was bound to.
    const listening = readFileSync('/proc/net/unix', 'utf8')
      .split('\n')
      .filter((line) => line.endsWith(socketPath) && line.split(/\s+/)[3] === '00010000');
    expect(listening).toHaveLength(1);
  });

  it('leaves alone what is in the place of its socket, complains of it once, and listens when it is gone', async () => {
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    try {
      unlinkSync(socketPath);
      writeFileSync(socketPath, 'of another');
      await until('the complaint', () => (said.mock.calls.length > 0 ? true : null));
      await delay(4_500); // two more looks
      expect(said.mock.calls).toHaveLength(1);
      expect(readFileSync(socketPath, 'utf8')).toBe('of another');
      unlinkSync(socketPath);
      await until('a new socket', () => (existsSync(socketPath) ? true : null));
      (await connectKeeper(socketPath, { timeoutMs: 20_000 })).close();
    } finally {
      said.mockRestore();
    }
  });

  it('takes no large frame of a peer that it does not know, nor of a terminal client', async () => {
    const large = encodeFrame(KeeperFrameKind.control, Buffer.alloc(70_000, ' '));
    const stranger = createConnection(socketPath);
    stranger.on('error', () => undefined);
    stranger.write(large.subarray(0, 5)); // its header is enough
    await until('the keeper to hang up', () => (stranger.closed ? true : null), 3_000);
    const { sessionId } = await keeper.call('spawn', launch('sleep 60'));
    const { ticket } = await keeper.call('grantAttach', { sessionId, mode: 'drive' });
    const client = createConnection(socketPath);
    client.on('error', () => undefined);
    client.resume();
    const request = { version: 1, ticket, columns: 80, rows: 24, window: 65_536 };
    // Together with the first frame: the limit of the lane holds from the next one on.
    const piece = encodeFrame(TerminalFrameKind.resize, Buffer.alloc(100_000));
    client.write(Buffer.concat([encodeJsonFrame(TerminalFrameKind.attach, request), piece]));
    await until('the client', async () => ((await stateOf(sessionId))?.attachedClients === 1 ? true : null));
    client.write(encodeFrame(TerminalFrameKind.input, Buffer.alloc(1024 * 1024 + 1)).subarray(0, 5));
    await until('the keeper to hang up', () => (client.closed ? true : null), 3_000);
    // The node may: its text is as large as the protocol allows.
    const text = 'x'.repeat(200_000);
    const { sessionId: pipe } = await keeper.call('spawn', launch('cat > /dev/null', { transport: 'pipe' }));
    const written = await keeper.call('input', { sessionId: pipe, text, framing: 'raw', submit: false });
    expect(written.bytesWritten).toBe(text.length);
  });

  it('leaks no descriptor over spawns, attaches and exits', async () => {
    const descriptors = () =>
      readdirSync('/proc/self/fd')
        .map((fd) => {
          try {
            return readlinkSync(`/proc/self/fd/${fd}`);
          } catch {
            return '';
          }
        })
        .filter((target) => /ptmx|socket|pipe/.test(target)).length;
    const cycle = async (transport: 'pty' | 'pipe') => {
      const { sessionId } = await keeper.call('spawn', launch('read x; exit 0', { transport }));
      const client = transport === 'pty' ? await attach(sessionId) : null;
      await keeper.call('input', { sessionId, text: 'x', framing: 'raw', submit: true });
      await exitOf(sessionId);
      client?.close();
      await keeper.call('release', { sessionId });
    };
    await cycle('pty');
    await cycle('pipe');
    const before = descriptors();
    for (let index = 0; index < 10; index += 1) {
      await cycle('pty');
      await cycle('pipe');
    }
    await until('descriptors to be closed', () => (descriptors() <= before + 1 ? true : null));
  }, 60_000);
});
