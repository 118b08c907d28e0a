import { expect, test } from 'vitest';
import type { NodeId, SessionId } from '@roost/protocol';
import {
  encodeFrame,
  encodeJsonFrame,
  FrameReader,
  TerminalFrameKind,
} from '@roost/protocol/terminal-frames';
import { connectThroughHub, type RelayConnection } from './relay-connection.ts';
import type { WebSocketLike } from './web-socket.ts';

const NODE = 'aaaaaaaaaaaaaaaa' as NodeId;
const SESSION = '1'.repeat(16) as SessionId;
const OPENED = {
  kind: 'opened',
  selection: {
    protocol: 2,
    capabilities: ['terminal-relay-v1'],
    nonce: '0'.repeat(64),
    node: { id: NODE, incarnation: 'c'.repeat(16), version: '1' },
  },
  ready: { kind: 'ready', connectionId: 1, sequence: 5, controller: null },
  role: 'operator',
};

/** The hub's end of a WebSocket, in the hands of the test. */
class FakeSocket implements WebSocketLike {
  binaryType = 'blob';
  bufferedAmount = 0;
  readonly sent: (string | Uint8Array)[] = [];
  isClosed = false;
  readonly #listeners = new Map<string, Set<(event: { data?: unknown }) => void>>();

  send(data: string | Uint8Array): void {
    this.sent.push(data);
  }
  close(): void {
    this.isClosed = true;
  }
  addEventListener(type: string, listener: (event: { data?: unknown }) => void): void {
    this.#listeners.set(type, (this.#listeners.get(type) ?? new Set()).add(listener));
  }
  removeEventListener(type: string, listener: (event: { data?: unknown }) => void): void {
    this.#listeners.get(type)?.delete(listener);
  }
  emit(type: string, data?: unknown): void {
    for (const listener of [...(this.#listeners.get(type) ?? [])]) listener({ data });
  }
  say(value: unknown): void {
    this.emit('message', JSON.stringify(value));
  }
  /** What the client sent last, as JSON. */
  last(): Record<string, unknown> {
    return JSON.parse(String(this.sent.at(-1))) as Record<string, unknown>;
  }
}

async function opened(): Promise<{ socket: FakeSocket; connection: RelayConnection }> {
  const socket = new FakeSocket();
  const connecting = connectThroughHub({
    openWebSocket: () => socket,
    baseUrl: 'ws://hub',
    nodeId: NODE,
    client: { name: 'test', version: '0' },
  });
  socket.emit('open');
  socket.say(OPENED);
  return { socket, connection: await connecting };
}

const ofChannel = (channel: number, bytes: Uint8Array): ArrayBuffer => {
  const message = new Uint8Array(4 + bytes.length);
  new DataView(message.buffer).setUint32(0, channel);
  message.set(bytes, 4);
  return message.buffer;
};

async function attached() {
  const { socket, connection } = await opened();
  const opening = connection.openTerminal({ sessionId: SESSION, mode: 'drive', columns: 90, rows: 30 });
  socket.say({ kind: 'response', id: socket.last().id, result: { channel: 7, ticket: 'secret' } });
  await Promise.resolve();
  await Promise.resolve();
  socket.emit(
    'message',
    ofChannel(
      7,
      encodeJsonFrame(TerminalFrameKind.attached, {
        version: 1,
        sessionId: SESSION,
        columns: 90,
        rows: 30,
        role: 'driver',
      }),
    ),
  );
  const attachment = await opening;
  const seen: string[] = [];
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  attachment.start({
    screen: (bytes) => seen.push(`screen ${text(bytes)}`),
    output: (bytes) => seen.push(`output ${text(bytes)}`),
    role: ({ role }) => seen.push(role),
    ended: ({ exitCode }) => seen.push(`ended ${exitCode ?? 'null'}`),
    closed: () => seen.push('closed'),
  });
  return { socket, connection, attachment, seen };
}

test('it opens with what it knows, and requests are answered by their ids, in any order', async () => {
  const { socket, connection } = await opened();
  expect(JSON.parse(String(socket.sent[0]))).toMatchObject({ kind: 'open', protocol: { min: 2, max: 2 } });
  const answers = [
    connection.request('screen.unwatch', {}),
    connection.request('terminal.close', { channel: 3 }),
  ];
  socket.say({ kind: 'response', id: 2, result: {} });
  socket.say({ kind: 'failure', id: 1, failure: { code: 'forbidden', message: '' } });
  await expect(answers[1]).resolves.toEqual({});
  await expect(answers[0]).rejects.toMatchObject({ failure: { code: 'forbidden' } });
});

test('a refused opening is the failure that the hub names', async () => {
  const socket = new FakeSocket();
  const connecting = connectThroughHub({
    openWebSocket: () => socket,
    baseUrl: '',
    nodeId: NODE,
    client: { name: 'test', version: '0' },
  });
  socket.say({ kind: 'refused', failure: { code: 'node-offline', message: '' } });
  await expect(connecting).rejects.toMatchObject({ failure: { code: 'node-offline' } });
  expect(socket.isClosed).toBe(true);
});

test('a terminal comes over its channel, cut anywhere, and what is typed goes out on it', async () => {
  const { socket, attachment, seen } = await attached();
  const bytes = Buffer.concat([
    encodeFrame(TerminalFrameKind.screen, Buffer.from('picture')),
    encodeFrame(TerminalFrameKind.output, Buffer.from('more')),
    encodeJsonFrame(TerminalFrameKind.role, { role: 'watcher', columns: 80, rows: 24 }),
  ]);
  socket.emit('message', ofChannel(7, bytes.subarray(0, 9)));
  socket.emit('message', ofChannel(8, encodeFrame(TerminalFrameKind.output, Buffer.from('of another'))));
  socket.emit('message', ofChannel(7, bytes.subarray(9)));
  expect(seen).toEqual(['screen picture', 'output more', 'watcher']);
  attachment.write(new TextEncoder().encode('ls'));
  attachment.acknowledge(11);
  attachment.takeOver();
  const reader = new FrameReader(1024);
  const sent = socket.sent.filter((one): one is Uint8Array => typeof one !== 'string');
  expect(sent.every((one) => new DataView(one.buffer).getUint32(0) === 7)).toBe(true);
  expect(sent.flatMap((one) => reader.push(one.subarray(4))).map(({ kind }) => kind)).toEqual([
    TerminalFrameKind.attach,
    TerminalFrameKind.input,
    TerminalFrameKind.acknowledge,
    TerminalFrameKind.takeOver,
  ]);
});

test('what is pasted goes out in messages that a node takes', async () => {
  const { socket, attachment } = await attached();
  const before = socket.sent.length;
  attachment.write(new Uint8Array(300_000));
  const sent = socket.sent.slice(before) as Uint8Array[];
  expect(sent.length).toBe(3);
  expect(Math.max(...sent.map(({ length }) => length))).toBeLessThanOrEqual(128 * 1024 + 4);
});

test('an ended channel closes its terminal alone; a lost line closes all, and fails what is open', async () => {
  const { socket, connection, seen } = await attached();
  socket.emit(
    'message',
    ofChannel(7, encodeJsonFrame(TerminalFrameKind.ended, { exitCode: 3, exitSignal: null })),
  );
  socket.emit('message', ofChannel(7, new Uint8Array(0)));
  expect(seen).toEqual(['ended 3', 'closed']);
  const open = connection.request('screen.unwatch', {});
  let closes = 0;
  connection.onClose(() => closes++);
  socket.emit('close');
  socket.emit('close');
  await expect(open).rejects.toMatchObject({ failure: { code: 'connection-lost' } });
  expect(closes).toBe(1);
});

test('a terminal that is closed here says so once, and ends its channel', async () => {
  const { socket, attachment, seen } = await attached();
  attachment.close();
  attachment.close();
  expect(seen).toEqual(['closed']);
  expect(socket.sent.at(-1)).toEqual(new Uint8Array([0, 0, 0, 7]));
});

test('what makes no sense ends the line', async () => {
  for (const nonsense of ['not json', JSON.stringify({ kind: 'ready' }), new ArrayBuffer(2)]) {
    const { socket, connection } = await opened();
    let isClosed = false;
    connection.onClose(() => (isClosed = true));
    socket.emit('message', nonsense);
    expect(isClosed).toBe(true);
  }
});
