/**
 * The client's end of the terminal lane. It goes straight to the keeper's socket, so that a restart of the node does not
 * even interrupt it. Nothing is delivered before `start`, and nothing after `closed`, which comes exactly once.
 */
import type { Duplex } from 'node:stream';
import { FAILURE_CODES, FailureError, type FailureCode, type SessionId } from '@roost/protocol';
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
  type RoleChange,
  type SessionEnd,
} from '@roost/protocol/terminal-frames';
import type { NodeConnection } from './connection.ts';
import { openSocket } from './open-socket.ts';

/** Milliseconds that a keeper may take to accept an attachment. */
const ATTACH_TIMEOUT_MS = 5_000;

export interface AttachOptions {
  readonly endpoint: string;
  readonly ticket: string;
  readonly columns: number;
  readonly rows: number;
  /** Bytes that may be on their way without acknowledgement. */
  readonly window?: number;
}

export interface SessionAttachOptions extends Omit<AttachOptions, 'endpoint' | 'ticket'> {
  readonly sessionId: SessionId;
  readonly mode: 'drive' | 'watch';
}

export interface TerminalListener {
  /** Bytes that draw the whole screen, whatever is on it now. */
  screen(bytes: Uint8Array): void;
  /** Bytes of the program as it wrote them. */
  output(bytes: Uint8Array): void;
  role(change: RoleChange): void;
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
  /** So many more bytes of screen and output were shown. */
  acknowledge(bytes: number): void;
  close(): void;
}

/**
 * Attaches to a terminal session: on the node's machine at its keeper, so that a restart of the node is not noticed; from elsewhere over the
 * connection to the node. Fails as `session.attach` and `terminal.open` do, and with `attach-refused`.
 */
export async function attachSession(
  connection: Pick<NodeConnection, 'isLocal' | 'request' | 'openTerminal'>,
  { sessionId, mode, ...view }: SessionAttachOptions,
): Promise<TerminalAttachment> {
  if (!connection.isLocal) {
    const { lane, ticket } = await connection.openTerminal({ sessionId, mode });
    return attachLane(lane, { ticket, ...view });
  }
  return attachTerminal({ ...(await connection.request('session.attach', { sessionId, mode })), ...view });
}

/** Opens the lane with a ticket of `session.attach`. Fails with `attach-refused`, or `keeper-unavailable`. */
export async function attachTerminal({ endpoint, ...options }: AttachOptions): Promise<TerminalAttachment> {
  const socket = await openSocket(endpoint, ATTACH_TIMEOUT_MS).catch((error: unknown) => {
    if (error instanceof FailureError) throw error;
    throw new FailureError('keeper-unavailable', undefined, { cause: error });
  });
  return attachLane(socket, options);
}

async function attachLane(
  socket: Duplex,
  { ticket, columns, rows, window = TERMINAL_WINDOW_BYTES }: Omit<AttachOptions, 'endpoint'>,
): Promise<TerminalAttachment> {
  const attachment = new Lane(socket);
  const request: AttachRequest = { version: TERMINAL_LANE_VERSION, ticket, columns, rows, window };
  await attachment.open(request);
  return attachment;
}

interface Frame {
  readonly kind: number;
  readonly payload: Uint8Array;
}

class Lane implements TerminalAttachment {
  readonly #socket: Duplex;
  readonly #reader = new FrameReader(TERMINAL_FRAME_BYTES_MAX);
  #answer: AttachAnswer | undefined;
  #listener: TerminalListener | undefined;
  /** Frames that came with the answer, before `start`. */
  #early: Frame[] = [];
  #closed = false;

  constructor(socket: Duplex) {
    this.#socket = socket;
    socket.on('error', () => socket.destroy());
  }

  get accepted(): AttachAnswer {
    if (this.#answer === undefined) throw new Error('the attachment is not open');
    return this.#answer;
  }

  get sessionId(): string {
    return this.accepted.sessionId;
  }

  open(request: AttachRequest): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        clearTimeout(timer);
        this.#socket.destroy();
        reject(error);
      };
      const timer = setTimeout(() => fail(new FailureError('keeper-unavailable')), ATTACH_TIMEOUT_MS);
      this.#socket.on('close', () => {
        if (this.#answer === undefined) fail(new FailureError('keeper-unavailable'));
        else this.#onClosed();
      });
      this.#socket.on('data', (chunk: Buffer) => {
        const frames = this.#cut(chunk);
        if (this.#answer !== undefined) {
          for (const frame of frames) this.#deliver(frame);
          return;
        }
        const first = frames.shift();
        if (first === undefined) return;
        const answer = readAnswer(first);
        if (answer instanceof Error) {
          fail(answer);
          return;
        }
        clearTimeout(timer);
        this.#answer = answer;
        this.#early = frames;
        this.#socket.pause();
        resolve();
      });
      this.#socket.write(encodeJsonFrame(TerminalFrameKind.attach, request));
    });
  }

  start(listener: TerminalListener): void {
    this.#listener = listener;
    for (const frame of this.#early.splice(0)) this.#deliver(frame);
    if (this.#closed) listener.closed();
    else this.#socket.resume();
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

  acknowledge(bytes: number): void {
    const payload = new Uint8Array(4);
    new DataView(payload.buffer).setUint32(0, bytes);
    this.#send(encodeFrame(TerminalFrameKind.acknowledge, payload));
  }

  close(): void {
    // What was typed before still goes out; what comes in is of no use any more.
    this.#socket.end();
    this.#socket.resume();
    this.#onClosed();
  }

  #send(frame: Uint8Array): boolean {
    if (this.#closed || !this.#socket.writable) return true;
    return this.#socket.write(frame);
  }

  #cut(chunk: Uint8Array): Frame[] {
    if (this.#closed) return [];
    try {
      return this.#reader.push(chunk);
    } catch {
      this.#socket.destroy();
      return [];
    }
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

  #onClosed(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#listener?.closed();
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
  try {
    return JSON.parse(new TextDecoder().decode(payload));
  } catch {
    return undefined;
  }
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
