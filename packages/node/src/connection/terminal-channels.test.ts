// Channels between a real WebSocket and a socket that stands for a keeper's.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import { TERMINAL_CHANNEL_HEADER_BYTES, TERMINAL_CHANNELS_MAX } from '@roost/protocol';
import { encodeFrame, TerminalFrameKind } from '@roost/protocol/terminal-frames';
import { TerminalChannels } from './terminal-channels.ts';

const MIB = 1024 * 1024;

let directory: string;
let path: string;
let keeper: Server;
/** The keeper's ends, in the order in which they were accepted. */
let lanes: Socket[];
let sockets: WebSocketServer;
let node: WebSocket;
let client: WebSocket;
let channels: TerminalChannels;
/** What the client got: of each channel its bytes, and whether it has ended. */
let got: Map<number, { length: number; text: string; isEnded: boolean }>;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'roost-lane-'));
  path = join(directory, 'keeper.sock');
  lanes = [];
  keeper = createServer({ allowHalfOpen: true }, (lane) => {
    lane.on('error', () => undefined);
    lanes.push(lane);
  });
  await new Promise<void>((resolve) => keeper.listen(path, resolve));
  sockets = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
  await new Promise<void>((resolve) => sockets.once('listening', resolve));
  const accepted = new Promise<WebSocket>((resolve) => sockets.once('connection', resolve));
  client = new WebSocket(`ws://127.0.0.1:${(sockets.address() as AddressInfo).port}`, {
    perMessageDeflate: false,
  });
  got = new Map();
  client.on('message', (data: Buffer, isBinary) => {
    if (isBinary) take(data);
  });
  node = await accepted;
  await new Promise<void>((resolve) => {
    if (client.readyState === WebSocket.OPEN) resolve();
    else client.once('open', resolve);
  });
  channels = new TerminalChannels(node);
  node.on('message', (data: Buffer) => channels.receive(data));
  node.on('close', () => channels.closeAll());
});
afterEach(async () => {
  client.terminate();
  node.terminate();
  for (const lane of lanes) lane.destroy();
  await new Promise<void>((resolve) => sockets.close(() => resolve()));
  await new Promise<void>((resolve) => keeper.close(() => resolve()));
  rmSync(directory, { recursive: true });
});

function take(message: Buffer): void {
  const channel = message.readUInt32BE(0);
  const bytes = message.subarray(TERMINAL_CHANNEL_HEADER_BYTES);
  const before = got.get(channel) ?? { length: 0, text: '', isEnded: false };
  got.set(channel, {
    length: before.length + bytes.length,
    text: (before.text + bytes.toString()).slice(-100),
    isEnded: bytes.length === 0,
  });
}

/** A channel whose first frame has passed. */
async function open(): Promise<{ readonly channel: number; readonly lane: Socket }> {
  const { channel, lane } = await openUnsaid();
  say(channel, Buffer.from(encodeFrame(TerminalFrameKind.attach)));
  await new Promise((resolve) => lane.once('data', resolve));
  return { channel, lane };
}

async function openUnsaid(): Promise<{ readonly channel: number; readonly lane: Socket }> {
  const channel = await channels.open(path);
  await expect.poll(() => lanes.length).toBeGreaterThanOrEqual(channel);
  const lane = lanes[channel - 1];
  if (lane === undefined) throw new Error('nobody was accepted');
  return { channel, lane };
}

function say(channel: number, text: string | Buffer): void {
  const header = Buffer.alloc(TERMINAL_CHANNEL_HEADER_BYTES);
  header.writeUInt32BE(channel, 0);
  client.send(Buffer.concat([header, Buffer.from(text)]));
}

/** What the keeper heard on a lane, and whether its other end is closed. */
function hear(lane: Socket): { text: string; isEnded: boolean } {
  const heard = { text: '', isEnded: false };
  lane.on('data', (bytes: Buffer) => (heard.text += bytes.toString()));
  lane.on('end', () => (heard.isEnded = true));
  return heard;
}

test('each channel carries its own bytes, both ways', async () => {
  const [one, two] = [await open(), await open()];
  const [heardOne, heardTwo] = [hear(one.lane), hear(two.lane)];
  say(one.channel, 'typed in one');
  say(two.channel, 'typed in two');
  await expect.poll(() => [heardOne.text, heardTwo.text]).toEqual(['typed in one', 'typed in two']);
  one.lane.write('shown in one');
  two.lane.write('shown in two');
  await expect
    .poll(() => [got.get(one.channel)?.text, got.get(two.channel)?.text])
    .toEqual(['shown in one', 'shown in two']);
});

test('the end of a lane ends its channel after its last bytes, and the other way round', async () => {
  const [one, two] = [await open(), await open()];
  one.lane.end('last words');
  await expect.poll(() => got.get(one.channel)).toMatchObject({ text: 'last words', isEnded: true });
  const heard = hear(two.lane);
  say(two.channel, 'typed before');
  say(two.channel, '');
  await expect.poll(() => heard).toEqual({ text: 'typed before', isEnded: true });
  expect(got.has(two.channel)).toBe(false);
  // It did not know yet: told once more.
  say(one.channel, 'too late');
  await expect.poll(() => got.get(one.channel)?.isEnded).toBe(true);
});

test('the end of the connection ends every lane, after what was typed', async () => {
  const [one, two] = [await open(), await open()];
  const heard = [hear(one.lane), hear(two.lane)];
  say(one.channel, 'typed');
  client.close();
  await expect.poll(() => heard.map(({ isEnded }) => isEnded)).toEqual([true, true]);
  expect(heard[0]?.text).toBe('typed');
  await expect(channels.open(path)).rejects.toMatchObject({ failure: { code: 'connection-lost' } });
});

test('channels are bounded, also while they are being opened, and a keeper that is gone takes none', async () => {
  await expect(channels.open(join(directory, 'nobody'))).rejects.toMatchObject({
    failure: { code: 'keeper-unavailable' },
  });
  const wanted = Array.from({ length: TERMINAL_CHANNELS_MAX + 5 }, () => channels.open(path));
  const outcomes = await Promise.allSettled(wanted);
  const refused = outcomes.filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(5);
  for (const one of refused) expect(one).toMatchObject({ reason: { failure: { code: 'backend-busy' } } });
  channels.close(TERMINAL_CHANNELS_MAX);
  await expect(channels.open(path)).resolves.toBeGreaterThan(TERMINAL_CHANNELS_MAX);
});

test('a lane that begins with anything but an attachment ends, and its keeper hears nothing of it', async () => {
  const hello = Buffer.from(encodeFrame(64, Buffer.from('{"kind":"hello","wire":{"min":1,"max":3}}')));
  const whole = await openUnsaid();
  const heardWhole = hear(whole.lane);
  say(whole.channel, hello);
  const parted = await openUnsaid();
  const heardParted = hear(parted.lane);
  for (const byte of hello) say(parted.channel, Buffer.from([byte]));
  await expect
    .poll(() => [got.get(whole.channel)?.isEnded, got.get(parted.channel)?.isEnded])
    .toEqual([true, true]);
  expect([heardWhole.text, heardParted.text]).toEqual(['', '']);
  // An attachment may come in pieces.
  const pieces = await openUnsaid();
  const heard = hear(pieces.lane);
  const attach = Buffer.from(encodeFrame(TerminalFrameKind.attach, Buffer.from('{}')));
  for (const byte of attach) say(pieces.channel, Buffer.from([byte]));
  await expect.poll(() => heard.text).toBe(attach.toString());
});

test('a message too short to name a channel is none', () => {
  expect(channels.receive(Buffer.from([0, 0, 1]))).toBe(false);
  expect(channels.receive(Buffer.from([0, 0, 0, 9, 65]))).toBe(true);
});

/** Writes as much as is taken; answers how much that was so far. */
function flood(lane: Socket, total: number): { readonly taken: () => number } {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  let written = 0;
  const more = (): void => {
    while (written < total) {
      written += chunk.length;
      if (!lane.write(chunk)) {
        lane.once('drain', more);
        return;
      }
    }
  };
  more();
  return { taken: () => written - lane.writableLength };
}

/** A number that no longer changes. */
async function steady(read: () => number): Promise<number> {
  let before = -1;
  let same = 0;
  await expect
    .poll(
      () => {
        same = read() === before ? same + 1 : 0;
        before = read();
        return same;
      },
      { timeout: 20_000 },
    )
    .toBeGreaterThanOrEqual(5);
  return before;
}

test('a client that does not read holds its lanes back, in the keeper and not in memory', async () => {
  const { channel, lane } = await open();
  client.pause();
  const total = 64 * MIB;
  const { taken } = flood(lane, total);
  // What the sockets of the system hold on the way, and one window.
  expect(await steady(taken)).toBeLessThan(total / 3);
  expect(node.bufferedAmount).toBeLessThan(2 * MIB);
  client.resume();
  await expect.poll(() => got.get(channel)?.length, { timeout: 20_000 }).toBe(total);
});

test('lanes go on when what held them back was of others', async () => {
  const { channel, lane } = await open();
  client.pause();
  const total = 16 * MIB;
  const { taken } = flood(lane, total);
  await steady(taken);
  // Answers and events, behind the last bytes of the lane.
  for (let count = 0; count < 8; count += 1) node.send('x'.repeat(MIB));
  client.resume();
  await expect.poll(() => got.get(channel)?.length, { timeout: 20_000 }).toBe(total);
});

test('a keeper that does not read what is typed loses that channel, and no other', async () => {
  const [one, two] = [await open(), await open()];
  one.lane.pause();
  for (let count = 0; count < 16; count += 1) say(one.channel, Buffer.alloc(MIB));
  await expect.poll(() => got.get(one.channel)?.isEnded, { timeout: 20_000 }).toBe(true);
  const heard = hear(two.lane);
  say(two.channel, 'still here');
  await expect.poll(() => heard.text).toBe('still here');
});
