/**
 * One attached client. It has no queue of its own: it is an offset into the session's ring. Whoever keeps up gets raw
 * bytes; whoever falls behind gets, once it has shown what was sent, a fresh screen instead of the backlog. So no client
 * can pause the program or grow this process.
 */
import type { Socket } from 'node:net';
import {
  encodeFrame,
  encodeJsonFrame,
  FRAME_HEADER_BYTES,
  TerminalFrameKind,
  type DriveAsks,
  type RoleChange,
  type SessionEnd,
  writeFrameHeader,
} from '@roost/protocol/terminal-frames';
import { endSoon } from './closing.ts';
import type { OutputRing } from './output-ring.ts';

/** Bytes of one output frame. */
const OUTPUT_FRAME_BYTES = 128 * 1024;
/** A client this far behind gets a fresh screen: cheaper to send and to show than the backlog. */
const RESYNC_LAG_BYTES = 64 * 1024;
/** Milliseconds between two fresh screens for one client: a slow link is not filled with repaints. */
const RESYNC_INTERVAL_MS = 50;
/** Unsent bytes above which what is told of driving waits: only the newest of each kind counts. */
const STATE_WAITING_BYTES_MAX = 1024 * 1024;

/** What an attachment needs of the session that it shows. */
export interface AttachedSession {
  readonly ring: OutputRing;
  /** Offset up to which the screen has parsed. */
  readonly parsedOffset: number;
  snapshot(scrollbackLines: number): Uint8Array;
}

export class Attachment {
  readonly mode: 'drive' | 'watch';
  readonly #socket: Socket;
  readonly #session: AttachedSession;
  readonly #window: number;
  #columns: number;
  #rows: number;
  #sentOffset = 0;
  #inFlight = 0;
  #behind = false;
  #lastScreenAt = 0;
  #resyncTimer: NodeJS.Timeout | null = null;
  readonly #owed = new Map<number, unknown>();
  #closed = false;

  constructor(options: {
    socket: Socket;
    session: AttachedSession;
    mode: 'drive' | 'watch';
    window: number;
    columns: number;
    rows: number;
  }) {
    this.#socket = options.socket;
    this.#session = options.session;
    this.mode = options.mode;
    this.#window = options.window;
    this.#columns = options.columns;
    this.#rows = options.rows;
    options.socket.on('drain', () => {
      const owed = [...this.#owed];
      this.#owed.clear();
      for (const [kind, state] of owed) this.#sendState(kind, state);
      this.flush();
    });
  }

  get size(): { columns: number; rows: number } {
    return { columns: this.#columns, rows: this.#rows };
  }

  resized(columns: number, rows: number): void {
    this.#columns = columns;
    this.#rows = rows;
  }

  /** Draws the whole screen; raw output follows from there on, unless so much is unparsed that another screen is due. */
  sendScreen(scrollbackLines: number): void {
    const { ring, parsedOffset } = this.#session;
    const screen = this.#session.snapshot(scrollbackLines);
    this.#inFlight += screen.length;
    this.#write(encodeFrame(TerminalFrameKind.screen, screen));
    this.#sentOffset = parsedOffset;
    this.#behind = ring.end - parsedOffset > RESYNC_LAG_BYTES;
    this.#lastScreenAt = performance.now();
    this.flush();
  }

  sendRole(change: RoleChange): void {
    this.#sendState(TerminalFrameKind.role, change);
  }

  sendAsks(asks: DriveAsks): void {
    this.#sendState(TerminalFrameKind.asks, asks);
  }

  sendKept(): void {
    this.#sendState(TerminalFrameKind.kept, {});
  }

  /** Sends what the window allows of the bytes that came since. */
  flush(): void {
    if (this.#closed) return;
    const { ring } = this.#session;
    for (;;) {
      const lag = ring.end - this.#sentOffset;
      if (lag === 0) return;
      if (lag > RESYNC_LAG_BYTES || this.#sentOffset < ring.floor) this.#behind = true;
      if (this.#behind) {
        this.#resyncWhenShown();
        return;
      }
      const room = this.#window - this.#unshown;
      if (room <= 0) return;
      this.#sendOutput(Math.min(lag, room, OUTPUT_FRAME_BYTES));
    }
  }

  /** The client has shown `bytes` more. */
  acknowledged(bytes: number): void {
    this.#inFlight = Math.max(0, this.#inFlight - bytes);
    this.flush();
  }

  /** The session is over: what is still owed, then the end. */
  end(end: SessionEnd): void {
    if (this.#closed) return;
    const { ring } = this.#session;
    if (this.#behind || this.#sentOffset < ring.floor) this.sendScreen(0);
    this.#sentOffset = Math.max(this.#sentOffset, ring.floor);
    const lag = ring.end - this.#sentOffset;
    if (lag > 0) this.#sendOutput(lag);
    this.#write(encodeJsonFrame(TerminalFrameKind.ended, end));
    endSoon(this.#socket);
    this.close();
  }

  close(): void {
    this.#closed = true;
    if (this.#resyncTimer !== null) clearTimeout(this.#resyncTimer);
    this.#resyncTimer = null;
  }

  #sendState(kind: number, state: unknown): void {
    if (this.#socket.writableLength <= STATE_WAITING_BYTES_MAX) this.#write(encodeJsonFrame(kind, state));
    else this.#owed.set(kind, state);
  }

  /** What this process still holds was not shown, whatever was acknowledged. */
  get #unshown(): number {
    return Math.max(this.#inFlight, this.#socket.writableLength);
  }

  #resyncWhenShown(): void {
    if (this.#unshown > this.#window / 8 || this.#resyncTimer !== null) return;
    const wait = this.#lastScreenAt + RESYNC_INTERVAL_MS - performance.now();
    if (wait <= 0) {
      this.sendScreen(0);
      return;
    }
    this.#resyncTimer = setTimeout(() => {
      this.#resyncTimer = null;
      this.sendScreen(0);
    }, wait);
  }

  /** The next `count` bytes of the ring, in one frame and one write. */
  #sendOutput(count: number): void {
    const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + count);
    writeFrameHeader(frame, TerminalFrameKind.output, count);
    this.#session.ring.copyTo(frame, FRAME_HEADER_BYTES, this.#sentOffset, count);
    this.#sentOffset += count;
    this.#inFlight += count;
    this.#write(frame);
  }

  #write(bytes: Uint8Array): void {
    if (!this.#closed && this.#socket.writable) this.#socket.write(bytes);
  }
}
