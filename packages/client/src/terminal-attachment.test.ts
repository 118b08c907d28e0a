import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  encodeFrame,
  encodeJsonFrame,
  FrameReader,
  TerminalFrameKind,
} from '@roost/protocol/terminal-frames';
import { attachTerminal, type TerminalAttachment } from './terminal-attachment.ts';
import { scratchDirectory } from './testing/fake-node.ts';
import { eventually } from './testing/eventually.ts';

const ATTACHED = { version: 1, sessionId: '0123456789abcdef', columns: 90, rows: 30, role: 'driver' };
let scratch: Awaited<ReturnType<typeof scratchDirectory>>;
let endpoint: string;
const cleanUps: (() => void)[] = [];

beforeEach(async () => {
  scratch = await scratchDirectory();
  endpoint = join(scratch.path, 'keeper.sock');
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
  await scratch[Symbol.asyncDispose]();
});

interface Received {
  readonly kind: number;
  readonly payload: Uint8Array;
}

/** A keeper that answers an attach with these bytes, and tells what it got. */
async function keeper(
  answer: (socket: Socket) => void,
): Promise<{ received: Received[]; sockets: Socket[] }> {
  const received: Received[] = [];
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    const reader = new FrameReader(1024 * 1024);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      for (const frame of reader.push(chunk)) {
        received.push({ kind: frame.kind, payload: Uint8Array.from(frame.payload) });
        if (frame.kind === TerminalFrameKind.attach) answer(socket);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(endpoint, resolve));
  cleanUps.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { received, sockets };
}

const attach = () => attachTerminal({ endpoint, ticket: 'secret', columns: 90, rows: 30 });

function recordOf(attachment: TerminalAttachment): { seen: string[]; closed: Promise<void> } {
  const seen: string[] = [];
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();
  const closed = new Promise<void>((resolve) =>
    attachment.start({
      screen: (bytes) => seen.push(`screen ${text(bytes)}`),
      output: (bytes) => seen.push(`output ${text(bytes)}`),
      role: ({ role }) => seen.push(`role ${role}`),
      asks: (asks) =>
        seen.push(`asks ${asks.map(({ client, clientName }) => `${client} ${clientName ?? ''}`).join()}`),
      kept: () => seen.push('kept'),
      ended: ({ exitCode }) => seen.push(`ended ${exitCode ?? 'null'}`),
      closed: () => {
        seen.push('closed');
        resolve();
      },
    }),
  );
  return { seen, closed };
}

test('everything is delivered in order, whatever the pieces in which it arrives and however late one listens', async () => {
  const stream = Buffer.concat([
    encodeJsonFrame(TerminalFrameKind.attached, ATTACHED),
    encodeFrame(TerminalFrameKind.screen, Buffer.from('picture')),
    encodeFrame(TerminalFrameKind.output, Buffer.from('more')),
    encodeFrame(99, Buffer.from('from the future')),
    encodeJsonFrame(TerminalFrameKind.role, { role: 'watcher', columns: 80, rows: 24 }),
    encodeJsonFrame(TerminalFrameKind.asks, { asks: [{ client: 4, clientName: 'web:ada' }] }),
    encodeJsonFrame(TerminalFrameKind.asks, { asks: [{ client: 'four', clientName: null }] }),
    encodeJsonFrame(TerminalFrameKind.kept, {}),
    encodeFrame(TerminalFrameKind.output, new Uint8Array(0)),
    encodeJsonFrame(TerminalFrameKind.ended, { exitCode: 3, exitSignal: null }),
  ]);
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.nat(stream.length), { maxLength: 6 }), async (cuts) => {
      const edges = [0, ...cuts.sort((a, b) => a - b), stream.length];
      await keeper((socket) => {
        void (async () => {
          for (let index = 1; index < edges.length; index++) {
            socket.write(stream.subarray(edges[index - 1], edges[index]));
            await new Promise(setImmediate);
          }
          socket.end();
        })();
      });
      const attachment = await attach();
      expect(attachment.accepted).toEqual(ATTACHED);
      const { seen, closed } = recordOf(attachment);
      await closed;
      expect(seen).toEqual([
        'screen picture',
        'output more',
        'role watcher',
        'asks 4 web:ada',
        'kept',
        'output ',
        'ended 3',
        'closed',
      ]);
      for (const cleanUp of cleanUps.splice(0)) cleanUp();
      endpoint = join(scratch.path, `${Math.random()}.sock`);
    }),
    { numRuns: 15 },
  );
});

test('what the client does arrives as frames', async () => {
  const { received } = await keeper((socket) =>
    socket.write(encodeJsonFrame(TerminalFrameKind.attached, ATTACHED)),
  );
  const attachment = await attach();
  const { closed } = recordOf(attachment);
  attachment.write(Buffer.from('ls\r'));
  attachment.resize(300, 7);
  attachment.acknowledge(70_000);
  attachment.takeOver();
  attachment.askToDrive();
  attachment.answerAsk({ client: 4, handOver: true });
  attachment.close();
  await closed;
  await eventually(() => received.length).toBe(7);
  const [first, ...others] = received;
  expect(JSON.parse(Buffer.from(first!.payload).toString())).toEqual({
    version: 1,
    ticket: 'secret',
    columns: 90,
    rows: 30,
    window: 256 * 1024,
  });
  expect(others.map(({ kind, payload }) => [kind, Buffer.from(payload).toString('hex')])).toEqual([
    [TerminalFrameKind.input, Buffer.from('ls\r').toString('hex')],
    [TerminalFrameKind.resize, '012c0007'],
    [TerminalFrameKind.acknowledge, '00011170'],
    [TerminalFrameKind.takeOver, ''],
    [TerminalFrameKind.askToDrive, ''],
    [TerminalFrameKind.answerAsk, Buffer.from('{"client":4,"handOver":true}').toString('hex')],
  ]);
});

test('a keeper that dies is closed without an end', async () => {
  const { sockets } = await keeper((socket) =>
    socket.write(encodeJsonFrame(TerminalFrameKind.attached, ATTACHED)),
  );
  const { seen, closed } = recordOf(await attach());
  sockets[0]!.destroy();
  await closed;
  expect(seen).toEqual(['closed']);
});

test('a refused ticket is the failure that the keeper names', async () => {
  await keeper((socket) =>
    socket.end(encodeJsonFrame(TerminalFrameKind.refused, { code: 'session-not-running' })),
  );
  await expect(attach()).rejects.toMatchObject({ failure: { code: 'session-not-running' } });
});

test('a refusal with an unknown code is still a refusal', async () => {
  await keeper((socket) => socket.end(encodeJsonFrame(TerminalFrameKind.refused, { code: 'moon-phase' })));
  await expect(attach()).rejects.toMatchObject({ failure: { code: 'attach-refused' } });
});

test('nobody there, garbage, and a line that ends at once are an unavailable keeper', async () => {
  await expect(attach()).rejects.toMatchObject({ failure: { code: 'keeper-unavailable' } });
  await keeper((socket) => socket.write(Buffer.alloc(16, 0xff)));
  await expect(attach()).rejects.toMatchObject({ failure: { code: 'keeper-unavailable' } });
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
  endpoint = join(scratch.path, 'other.sock');
  await keeper((socket) => socket.end());
  await expect(attach()).rejects.toMatchObject({ failure: { code: 'keeper-unavailable' } });
});
