/**
 * The terminal lane: length-prefixed binary frames between an attached client and whoever owns the screen. No imports:
 * keepers and clients of different builds share this file's format and nothing else.
 *
 *   frame = u32 length (big-endian, of what follows) | u8 kind | payload
 *
 * A client opens with `attach`, and is answered by `attached` or `refused`. Then `screen` (a whole picture) comes first,
 * `output` (raw bytes of the program) after it. The client acknowledges how many bytes of `screen` and `output` payload
 * it has shown; whoever falls behind the window gets no backlog but, once it has caught up, a fresh `screen`.
 * Kinds that one side does not know are ignored.
 */
export const TERMINAL_LANE_VERSION = 1;

export const TerminalFrameKind = {
  // client -> owner
  attach: 1, // JSON AttachRequest
  input: 2, // raw keystrokes of the driver
  resize: 3, // u16 columns | u16 rows
  acknowledge: 4, // u32 bytes shown since the last acknowledgement
  takeOver: 5, // empty: become the driver
  askToDrive: 6, // empty: ask the driver to hand over; become it when there is none
  answerAsk: 7, // JSON DriveAnswer, of the driver
  // owner -> client
  attached: 16, // JSON AttachAnswer
  refused: 17, // JSON { code }
  screen: 18, // bytes that draw the whole screen from any state
  output: 19, // raw bytes
  role: 20, // JSON RoleChange
  ended: 21, // JSON SessionEnd: the last frame
  asks: 22, // JSON DriveAsks, to the driver: all who ask at this moment
  kept: 23, // JSON {}, to one who asked: the driver goes on driving
} as const;
export type TerminalFrameKind = (typeof TerminalFrameKind)[keyof typeof TerminalFrameKind];

export interface AttachRequest {
  readonly version: number;
  readonly ticket: string;
  readonly columns: number;
  readonly rows: number;
  /** Bytes that may be on their way without acknowledgement. */
  readonly window: number;
}

export interface AttachAnswer {
  readonly version: number;
  readonly sessionId: string;
  readonly columns: number;
  readonly rows: number;
  readonly role: 'driver' | 'watcher';
}

export interface RoleChange {
  readonly role: 'driver' | 'watcher';
  readonly columns: number;
  readonly rows: number;
}

export interface DriveAsks {
  readonly asks: readonly DriveAsk[];
}

export interface DriveAsk {
  /** Stands for one attachment at this terminal. */
  readonly client: number;
  /** As the node knows it, such as `web:ada`; null when it does not tell. */
  readonly clientName: string | null;
}

export interface DriveAnswer {
  readonly client: number;
  readonly handOver: boolean;
}

export interface SessionEnd {
  /** null when ended by a signal. */
  readonly exitCode: number | null;
  readonly exitSignal: string | null;
}

/** Largest payload of any frame: a screen of 1,000 x 1,000 cells with colours fits. */
export const TERMINAL_FRAME_BYTES_MAX = 64 * 1024 * 1024;
/** What a client asks for unless it knows better. */
export const TERMINAL_WINDOW_BYTES = 256 * 1024;

export const FRAME_HEADER_BYTES = 5;

/** Writes the header of a frame whose payload follows in the same memory. */
export function writeFrameHeader(frame: Uint8Array, kind: number, payloadBytes: number): void {
  new DataView(frame.buffer, frame.byteOffset).setUint32(0, payloadBytes + 1);
  frame[4] = kind;
}

export function encodeFrame(kind: number, payload: Uint8Array = new Uint8Array(0)): Uint8Array {
  const frame = new Uint8Array(FRAME_HEADER_BYTES + payload.length);
  writeFrameHeader(frame, kind, payload.length);
  frame.set(payload, FRAME_HEADER_BYTES);
  return frame;
}

export function encodeJsonFrame(kind: number, value: unknown): Uint8Array {
  return encodeFrame(kind, new TextEncoder().encode(JSON.stringify(value)));
}

export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/** Cuts a byte stream into frames. Throws `FrameError` on an impossible length: the stream is then useless. */
export class FrameReader {
  /** May change between two frames that `read` gives: a peer is trusted with more once it is known. */
  maxPayloadBytes: number;
  #chunks: Uint8Array[] = [];
  #bytes = 0;

  constructor(maxPayloadBytes: number) {
    this.maxPayloadBytes = maxPayloadBytes;
  }

  /** Frames completed by this chunk, in order. Payloads are views: copy what outlives the call. */
  push(chunk: Uint8Array): { kind: number; payload: Uint8Array }[] {
    return [...this.read(chunk)];
  }

  /** As `push`, one frame at a time. All must be taken. */
  *read(chunk: Uint8Array): Generator<{ kind: number; payload: Uint8Array }, void> {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    for (;;) {
      if (this.#bytes < FRAME_HEADER_BYTES) return;
      const head = this.#front(FRAME_HEADER_BYTES);
      const length = new DataView(head.buffer, head.byteOffset).getUint32(0);
      if (length < 1 || length - 1 > this.maxPayloadBytes) throw new FrameError(`frame of ${length} bytes`);
      if (this.#bytes < 4 + length) return;
      const frame = this.#front(4 + length);
      this.#drop(4 + length);
      yield { kind: frame[4] ?? 0, payload: frame.subarray(FRAME_HEADER_BYTES, 4 + length) };
    }
  }

  /** The first chunk, made to hold at least `count` bytes. */
  #front(count: number): Uint8Array {
    const first = this.#chunks[0];
    if (first !== undefined && first.length >= count) return first;
    const joined = new Uint8Array(this.#bytes);
    let at = 0;
    for (const chunk of this.#chunks) {
      joined.set(chunk, at);
      at += chunk.length;
    }
    this.#chunks = [joined];
    return joined;
  }

  #drop(count: number): void {
    const first = this.#chunks[0] ?? new Uint8Array(0);
    this.#bytes -= count;
    if (first.length === count) this.#chunks.shift();
    else this.#chunks[0] = first.subarray(count);
  }
}
