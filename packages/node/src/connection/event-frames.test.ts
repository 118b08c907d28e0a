import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import type { NodeEvent } from '@roost/protocol';
import type { StoredEvent } from '../events/stored-event.ts';
import { eventFrames, eventText } from './event-frames.ts';

const stored = (sequence: number, text: string): StoredEvent => ({
  sequence,
  text,
  event: () => JSON.parse(text) as NodeEvent,
});
const ofLength = (sequence: number, length: number) =>
  stored(sequence, JSON.stringify('x'.repeat(length - 2)));

/** What a client makes of the bytes, however they are cut. */
async function received(bytes: Buffer, chunk: number, messages: number): Promise<string[]> {
  const webSockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  const server = createServer().on('upgrade', (request, socket, head) =>
    webSockets.handleUpgrade(request, socket, head, () => {
      for (let at = 0; at < bytes.length; at += chunk) socket.write(bytes.subarray(at, at + chunk));
    }),
  );
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' ? (address?.port ?? 0) : 0);
    });
  });
  const client = new WebSocket(`ws://127.0.0.1:${port}`);
  const texts: string[] = [];
  await new Promise<void>((resolve, reject) => {
    client.on('error', reject);
    client.on('close', () => reject(new Error('the client took it for no WebSocket frame')));
    client.on('message', (data: Buffer, isBinary) => {
      texts.push(isBinary ? 'binary' : data.toString());
      if (texts.length === messages) resolve();
    });
  }).finally(() => {
    client.terminate();
    server.close();
  });
  return texts;
}

describe('frames of events', () => {
  it('are what a WebSocket client reads as one message for each, whatever its length', async () => {
    const envelope = eventText('').length;
    const lengths = [2, 124, 125, 126, 127, 65_535, 65_536, 70_000].map((length) =>
      Math.max(2, length - envelope),
    );
    const events = lengths.map((length, index) => ofLength(index + 1, length));
    const texts = await received(eventFrames(events), 4_096, events.length);
    expect(texts.map((text) => text.length)).toEqual(events.map(({ text }) => envelope + text.length));
    expect(texts).toEqual(events.map(({ text }) => eventText(text)));
  });

  it('keep every character', async () => {
    const events = [stored(1, JSON.stringify('ü € 😀 \u0000 \ud800'))];
    const texts = await received(eventFrames(events), 1, 1);
    expect(texts).toEqual([eventText(events[0]?.text ?? '')]);
  });

  it('are made once for all who take the same burst, and anew for another one', () => {
    const events = [1, 2, 3].map((sequence) => ofLength(sequence, 100));
    const bytes = eventFrames(events);
    expect(eventFrames([...events])).toBe(bytes);
    const shorter = eventFrames(events.slice(0, 2));
    expect(shorter.length).toBeLessThan(bytes.length);
    expect(eventFrames(events).equals(bytes)).toBe(true);
    // Another journal may have given out the same sequences.
    const others = [1, 2, 3].map((sequence) => ofLength(sequence, 90));
    expect(eventFrames(others).length).toBeLessThan(bytes.length);
  });
});
