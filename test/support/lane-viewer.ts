/**
 * A client of the terminal lane that reads its socket as slowly as it is told and draws what it reads on an emulator of
 * its own. It acknowledges what it has shown, as a real client does.
 */
import { createConnection, type Socket } from 'node:net';
import {
  encodeFrame,
  encodeJsonFrame,
  FrameReader,
  TERMINAL_FRAME_BYTES_MAX,
  TERMINAL_LANE_VERSION,
  TerminalFrameKind,
} from '@roost/protocol/terminal-frames';
import headless from '@xterm/headless';
import { waitFor } from './wait-for.ts';

/** Between two reads of a slow viewer. */
const READ_EVERY_MS = 50;

export class LaneViewer implements Disposable {
  readonly #socket: Socket;
  readonly #reader = new FrameReader(TERMINAL_FRAME_BYTES_MAX);
  readonly #emulator: headless.Terminal;
  #bytesPerSecond: number;
  #timer: NodeJS.Timeout;
  #attached = false;
  #closed = false;
  #bytesRead = 0;
  #screens = 0;
  #parsed: Promise<void> = Promise.resolve();

  constructor(
    { endpoint, ticket }: { endpoint: string; ticket: string },
    options: { columns?: number; rows?: number; window?: number; bytesPerSecond?: number } = {},
  ) {
    const { columns = 80, rows = 24, window = 256 * 1024, bytesPerSecond = Infinity } = options;
    this.#bytesPerSecond = bytesPerSecond;
    this.#emulator = new headless.Terminal({ cols: columns, rows, allowProposedApi: true });
    this.#socket = createConnection(endpoint);
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => (this.#closed = true));
    const request = { version: TERMINAL_LANE_VERSION, ticket, columns, rows, window };
    this.#socket.write(encodeJsonFrame(TerminalFrameKind.attach, request));
    this.#timer = setInterval(() => this.#read(), READ_EVERY_MS);
  }

  get bytesRead(): number {
    return this.#bytesRead;
  }

  /** Whole screens that came. */
  get screens(): number {
    return this.#screens;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** From now on as fast as it can. */
  hurry(): void {
    this.#bytesPerSecond = Infinity;
  }

  attached(): Promise<unknown> {
    return waitFor('the lane to be open', () => this.#attached, { timeoutMs: 30_000 });
  }

  type(text: string): void {
    this.#socket.write(encodeFrame(TerminalFrameKind.input, Buffer.from(text)));
  }

  send(kind: number, payload?: Uint8Array): void {
    this.#socket.write(encodeFrame(kind, payload));
  }

  async lines(): Promise<string[]> {
    await this.#parsed;
    const { active } = this.#emulator.buffer;
    return Array.from({ length: this.#emulator.rows }, (_, row) =>
      (active.getLine(active.baseY + row)?.translateToString(true) ?? '').trimEnd(),
    );
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#socket.destroy();
    this.#emulator.dispose();
  }

  #read(): void {
    let left = Math.ceil((this.#bytesPerSecond * READ_EVERY_MS) / 1_000);
    while (left > 0 && this.#socket.readableLength >= 0) {
      const waiting = this.#socket.readableLength;
      // Asked for more than there is, a stream only says that it is empty, and fetches more.
      const chunk = this.#socket.read(waiting === 0 ? undefined : Math.min(waiting, left)) as Buffer | null;
      if (chunk === null) return;
      left -= chunk.length;
      this.#bytesRead += chunk.length;
      for (const frame of this.#reader.push(chunk)) this.#show(frame);
    }
  }

  #show({ kind, payload }: { kind: number; payload: Uint8Array }): void {
    if (kind === TerminalFrameKind.attached) this.#attached = true;
    if (kind === TerminalFrameKind.screen) this.#screens += 1;
    if (kind !== TerminalFrameKind.screen && kind !== TerminalFrameKind.output) return;
    this.#parsed = new Promise((resolve) => this.#emulator.write(payload.slice(), resolve));
    const shown = Buffer.alloc(4);
    shown.writeUInt32BE(payload.length);
    this.#socket.write(encodeFrame(TerminalFrameKind.acknowledge, shown));
  }
}
