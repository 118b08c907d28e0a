/**
 * The client's end of the terminal lane, whatever carries its bytes: the keeper's socket, or a channel of a connection. Nothing is delivered
 * before `start`, and nothing after `closed`, which comes exactly once.
 */
import { FAILURE_CODES, FailureError, type FailureCode } from '@roost/protocol';
import {
  FrameReader,
  TERMINAL_FRAME_BYTES_MAX,
  TERMINAL_LANE_VERSION,
  TERMINAL_WINDOW_BYTES,
  TerminalFrameKind,
  encodeFrame,
  encodeJsonFrame,
  type AttachAnswer,
  type AttachRequest,
  type DriveAnswer,
  type DriveAsk,
  type DriveAsks,
  type RoleChange,
  type SessionEnd,
} from '@roost/protocol/terminal-frames';
import { parseJsonText } from './frame-value.ts';

/** Milliseconds that whoever owns the screen may take to accept an attachment. */
export const ATTACH_TIMEOUT_MS = 5_000;

export interface TerminalListener {
  /** Bytes that draw the whole screen, whatever is on it now. */
  screen(bytes: Uint8Array): void;
  /** Bytes of the program as it wrote them. */
  output(bytes: Uint8Array): void;
  role(change: RoleChange): void;
  /** To the driver: all who ask to drive at this moment. */
  asks?(asks: readonly DriveAsk[]): void;
  /** To one who asked: the driver goes on driving. */
  kept?(): void;
  ended(end: SessionEnd): void;
  /** The line is gone: after `ended`, after `close`, or because the keeper died. */
  closed(): void;
}

export interface TerminalAttachment {
  readonly sessionId: string;
  /** As it was when the attachment was accepted. */
  readonly accepted: AttachAnswer;
  start(listener: TerminalListener): void;
  /** Keystrokes; the keeper drops those of watchers. Answers false when the line is full: wait before sending a lot more. */
  write(bytes: Uint8Array): boolean;
  resize(columns: number, rows: number): void;
  /** Become the one whose keystrokes and size count. */
  takeOver(): void;
  /** Ask the driver to hand over; becomes the driver when there is none. An owner of the screen of before asking was known ignores it. */
  askToDrive(): void;
  /** What the driver says to one who asks. */
  answerAsk(answer: DriveAnswer): void;
  /** So many more bytes of screen and output were shown. */
  acknowledge(bytes: number): void;
  close(): void;
}

/** What a lane needs of that which carries it. */
export interface LaneCarrier {
  /** false: the line is full. */
  send(bytes: Uint8Array): boolean;
  /** Holds back what comes, where that can be done. */
  pause(): void;
  resume(): void;
  /** What was sent still goes out. */
  close(): void;
  /** At once: what comes makes no sense. */
  destroy(): void;
}

export interface LaneRequest {
  readonly ticket: string;
  readonly columns: number;
  readonly rows: number;
  /** Bytes that may be on their way without acknowledgement. */
  readonly window?: number;
}

interface Frame {
  readonly kind: number;
  readonly payload: Uint8Array;
}

export class TerminalLane implements TerminalAttachment {
  readonly #carrier: LaneCarrier;
  readonly #reader = new FrameReader(TERMINAL_FRAME_BYTES_MAX);
  #opening: ((outcome: AttachAnswer | FailureError) => void) | undefined;
  #answer: AttachAnswer | undefined;
  #listener: TerminalListener | undefined;
  /** Frames that came with the answer, before `start`. */
  #early: Frame[] = [];
  /** The carrier is gone, which a listener has still to be told. */
  #lost = false;
  #closed = false;

  constructor(carrier: LaneCarrier) {
    this.#carrier = carrier;
  }

  get accepted(): AttachAnswer {
    if (this.#answer === undefined) throw new Error('the attachment is not open');
    return this.#answer;
  }

  get sessionId(): string {
    return this.accepted.sessionId;
  }

  /** Fails with what the other side refuses with, `attach-refused`, or `keeper-unavailable`. */
  open({ ticket, columns, rows, window = TERMINAL_WINDOW_BYTES }: LaneRequest): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: AttachAnswer | FailureError): void => {
        clearTimeout(timer);
        this.#opening = undefined;
        if (outcome instanceof FailureError) {
          this.#lost = true;
          this.#carrier.destroy();
          reject(outcome);
          return;
        }
        this.#answer = outcome;
        this.#carrier.pause();
        resolve();
      };
      const timer = setTimeout(() => settle(new FailureError('keeper-unavailable')), ATTACH_TIMEOUT_MS);
      this.#opening = settle;
      const request: AttachRequest = { version: TERMINAL_LANE_VERSION, ticket, columns, rows, window };
      this.#carrier.send(encodeJsonFrame(TerminalFrameKind.attach, request));
    });
  }

  /** Bytes that came, cut anywhere. */
  push(chunk: Uint8Array): void {
    if (this.#lost) return;
    let frames: Frame[];
    try {
      frames = this.#reader.push(chunk);
    } catch {
      this.#carrier.destroy();
      this.end();
      return;
    }
    for (const frame of frames) {
      if (this.#opening !== undefined) this.#opening(readAnswer(frame));
      else if (this.#listener === undefined) this.#early.push(frame);
      else this.#deliver(frame);
    }
  }

  /** What carried it is gone. */
  end(): void {
    if (this.#opening !== undefined) {
      this.#opening(new FailureError('keeper-unavailable'));
      return;
    }
    if (this.#closed) return;
    this.#lost = true;
    if (this.#listener === undefined) return;
    this.#closed = true;
    this.#listener.closed();
  }

  start(listener: TerminalListener): void {
    this.#listener = listener;
    for (const frame of this.#early.splice(0)) this.#deliver(frame);
    if (this.#lost) this.end();
    else this.#carrier.resume();
  }

  write(bytes: Uint8Array): boolean {
    return this.#send(encodeFrame(TerminalFrameKind.input, bytes));
  }

  resize(columns: number, rows: number): void {
    const payload = new Uint8Array(4);
    const view = new DataView(payload.buffer);
    view.setUint16(0, columns);
    view.setUint16(2, rows);
    this.#send(encodeFrame(TerminalFrameKind.resize, payload));
  }

  takeOver(): void {
    this.#send(encodeFrame(TerminalFrameKind.takeOver));
  }

  askToDrive(): void {
    this.#send(encodeFrame(TerminalFrameKind.askToDrive));
  }

  answerAsk(answer: DriveAnswer): void {
    this.#send(encodeJsonFrame(TerminalFrameKind.answerAsk, answer));
  }

  acknowledge(bytes: number): void {
    const payload = new Uint8Array(4);
    new DataView(payload.buffer).setUint32(0, bytes);
    this.#send(encodeFrame(TerminalFrameKind.acknowledge, payload));
  }

  close(): void {
    if (this.#lost) return;
    this.#carrier.close();
    this.end();
  }

  #send(frame: Uint8Array): boolean {
    return this.#lost || this.#carrier.send(frame);
  }

  #deliver({ kind, payload }: Frame): void {
    const listener = this.#listener;
    if (listener === undefined || this.#closed) return;
    switch (kind) {
      case TerminalFrameKind.screen:
        listener.screen(payload);
        return;
      case TerminalFrameKind.output:
        listener.output(payload);
        return;
      case TerminalFrameKind.role: {
        const change = parseJson(payload);
        if (isRoleChange(change)) listener.role(change);
        return;
      }
      case TerminalFrameKind.asks: {
        const asks = parseJson(payload);
        if (isDriveAsks(asks)) listener.asks?.(asks.asks);
        return;
      }
      case TerminalFrameKind.kept:
        listener.kept?.();
        return;
      case TerminalFrameKind.ended: {
        const end = parseJson(payload);
        listener.ended(isSessionEnd(end) ? end : { exitCode: null, exitSignal: null });
        return;
      }
      default:
        // A newer keeper may say more than this client knows.
        return;
    }
  }
}

function readAnswer(frame: Frame): AttachAnswer | FailureError {
  const value = parseJson(frame.payload);
  if (frame.kind === TerminalFrameKind.attached && isAttachAnswer(value)) return value;
  if (frame.kind === TerminalFrameKind.refused) {
    const code = isRecord(value) ? value.code : undefined;
    return new FailureError(isFailureCode(code) ? code : 'attach-refused');
  }
  return new FailureError('keeper-unavailable');
}

function parseJson(payload: Uint8Array): unknown {
  return parseJsonText(new TextDecoder().decode(payload));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isFailureCode(value: unknown): value is FailureCode {
  return FAILURE_CODES.some((code) => code === value);
}

function isRoleChange(value: unknown): value is RoleChange {
  return (
    isRecord(value) &&
    (value.role === 'driver' || value.role === 'watcher') &&
    typeof value.columns === 'number' &&
    typeof value.rows === 'number'
  );
}

function isDriveAsks(value: unknown): value is DriveAsks {
  return isRecord(value) && Array.isArray(value.asks) && value.asks.every(isDriveAsk);
}

function isDriveAsk(value: unknown): value is DriveAsk {
  return (
    isRecord(value) &&
    typeof value.client === 'number' &&
    (value.clientName === null || typeof value.clientName === 'string')
  );
}

function isAttachAnswer(value: unknown): value is AttachAnswer {
  return (
    isRoleChange(value) &&
    'sessionId' in value &&
    typeof value.sessionId === 'string' &&
    'version' in value &&
    typeof value.version === 'number'
  );
}

function isSessionEnd(value: unknown): value is SessionEnd {
  return (
    isRecord(value) &&
    (value.exitCode === null || typeof value.exitCode === 'number') &&
    (value.exitSignal === null || typeof value.exitSignal === 'string')
  );
}
