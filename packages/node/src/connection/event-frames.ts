// Events as WebSocket frames, made once for all connections that take the same burst: with many readers, making a frame for each
// is most of the work of the node. A frame to a client carries no mask and no key, so the same bytes do for everybody.
import type { StoredEvent } from '../events/stored-event.ts';

const FINAL_TEXT = 0x81;
const LENGTH_16 = 126;
const LENGTH_64 = 127;

interface Burst {
  readonly first: StoredEvent | undefined;
  readonly last: StoredEvent | undefined;
  readonly bytes: Buffer;
}

/** Readers that keep up take the same events one right after the other: remembering one burst is enough. */
let latest: Burst = { first: undefined, last: undefined, bytes: Buffer.alloc(0) };

/** The frames of events that follow one another in the journal. Nobody may change the bytes. */
export function eventFrames(events: readonly StoredEvent[]): Buffer {
  const [first, last] = [events[0], events.at(-1)];
  if (latest.first !== first || latest.last !== last) {
    latest = { first, last, bytes: Buffer.concat(events.flatMap(({ text }) => textFrame(eventText(text)))) };
  }
  return latest.bytes;
}

/** The text of an event frame, from that of its event. */
export function eventText(event: string): string {
  return `{"kind":"event","event":${event}}`;
}

function textFrame(text: string): [Buffer, Buffer] {
  const payload = Buffer.from(text);
  return [frameHeader(payload.length), payload];
}

function frameHeader(length: number): Buffer {
  if (length < LENGTH_16) return Buffer.from([FINAL_TEXT, length]);
  if (length <= 0xffff) {
    const header = Buffer.from([FINAL_TEXT, LENGTH_16, 0, 0]);
    header.writeUInt16BE(length, 2);
    return header;
  }
  const header = Buffer.alloc(10);
  header.set([FINAL_TEXT, LENGTH_64]);
  header.writeBigUInt64BE(BigInt(length), 2);
  return header;
}
