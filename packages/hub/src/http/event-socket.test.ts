import { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { socketSink } from './event-socket.ts';

const ALIVE = { kind: 'alive', cursor: `${'0'.repeat(16)}-1` } as const;

it('lets what comes in one turn leave in one piece', async () => {
  const pieces: number[] = [];
  const socket = new Duplex({
    read: () => undefined,
    writev: (chunks, done) => {
      pieces.push(chunks.length);
      done();
    },
  });
  const webSocket = {
    send: (text: string, sent: () => void) => socket.write(text, sent),
    get bufferedAmount() {
      return socket.writableLength;
    },
  } as unknown as WebSocket;
  let drained = 0;
  const sink = socketSink({ webSocket, socket }, () => (drained += 1));
  for (let count = 0; count < 3; count += 1) sink.send(ALIVE, '');
  expect(sink.bufferedBytes).toBe(3 * JSON.stringify(ALIVE).length);
  expect(pieces).toEqual([]);
  await nextTurn();
  expect(pieces).toEqual([3]);
  sink.send(ALIVE, '');
  await nextTurn();
  await nextTurn();
  expect(pieces).toEqual([3, 1]);
  expect(drained).toBe(4);
});
