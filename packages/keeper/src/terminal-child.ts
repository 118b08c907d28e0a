/**
 * A child on a terminal: the PTY, its screen, its ring, its clients. Output goes to the clients first and to the parser
 * after; only a parser that cannot keep up pauses the program, never a client.
 */
import type { AttachRequest, DriveAnswer } from '@roost/protocol/terminal-frames';
import { Attachment, type AttachedSession } from './attachment.ts';
import { DriverSeat, type Contender } from './driver-seat.ts';
import { InputQueue } from './input-queue.ts';
import { OutputRing } from './output-ring.ts';
import { Pty } from './pty.ts';
import { frameOf } from './screen/frame.ts';
import { ReplyFilter } from './screen/reply-filter.ts';
import { Screen } from './screen/screen.ts';
import { splitAtSequenceBoundary } from './screen/sequence-boundary.ts';
import { PARSE_SLICE_BYTES, type PumpSource, type ScreenPump } from './screen-pump.ts';
import { Revision } from './revision.ts';
import type { Grant } from './tickets.ts';
import type { ChildExit, ChildLaunch, ScreenFrame, ScreenText } from './wire.ts';

/** Unparsed bytes at which the program is paused, and at which it goes on. Both within the ring. */
const PAUSE_BYTES = 384 * 1024;
const RESUME_BYTES = 128 * 1024;
/**
 * Output is sent on at once while there is little of it. Of a flood, what comes in one period is sent together at its end:
 * by then a client is so far behind that a fresh screen is cheaper, for it and for us, than bytes that nobody can read.
 */
const FLOOD_PERIOD_MS = 8;
const FLOOD_BYTES = 16 * 1024;
/** A sequence longer than this is parsed in pieces. */
const SEQUENCE_BYTES_MAX = 64 * 1024;
/** Milliseconds that an unfinished sequence from a client's keyboard may wait for its rest. */
const PARTIAL_KEY_MS = 50;
/** Lines of history that a client gets above the screen when it attaches. */
const ATTACH_SCROLLBACK_LINES = 1_000;
const WINDOW_BYTES_MIN = 16 * 1024;
const WINDOW_BYTES_MAX = 8 * 1024 * 1024;

export interface TerminalChildEvents {
  /** Title, size or clients changed. */
  changed(): void;
  /** The child has ended and everything that it printed is on the screen. */
  ended(exit: ChildExit): void;
}

interface Client extends Contender {
  readonly attachment: Attachment;
  readonly replies: ReplyFilter;
  partialTimer: NodeJS.Timeout | null;
}

/** The handle by which a connection drives its place at the session. */
export interface AttachedClient {
  input(bytes: Uint8Array): void;
  resize(columns: number, rows: number): void;
  acknowledge(bytes: number): void;
  takeOver(): void;
  askToDrive(): void;
  answerAsk(answer: DriveAnswer): void;
  leave(): void;
}

export class TerminalChild implements AttachedSession, PumpSource {
  readonly pid: number;
  readonly ring = new OutputRing();
  readonly input: InputQueue;
  /** Of the screen. */
  readonly frames = new Revision();
  readonly #pty: Pty;
  readonly #screen: Screen;
  readonly #pump: ScreenPump;
  readonly #events: TerminalChildEvents;
  readonly #clients = new Set<Client>();
  readonly #seat = new DriverSeat<Client>((now, before) => this.#drive(now, before));
  #attachments = 0;
  #parsedOffset = 0;
  #flushScheduled = false;
  #periodStart = 0;
  #periodBytes = 0;
  #exit: ChildExit | null = null;
  #over = false;

  constructor(
    launch: ChildLaunch,
    environment: Record<string, string>,
    pump: ScreenPump,
    events: TerminalChildEvents,
  ) {
    this.#pump = pump;
    this.#events = events;
    this.#pty = new Pty(
      {
        file: launch.file,
        arguments: launch.argv.slice(1),
        directory: launch.directory,
        environment,
        ...launch.size,
      },
      {
        output: (bytes) => {
          this.#received(bytes);
        },
        exited: (exit) => {
          this.#exited(exit);
        },
      },
    );
    this.pid = this.#pty.pid;
    this.input = new InputQueue((bytes) => this.#pty.tryWrite(bytes));
    this.#screen = new Screen({
      columns: launch.size.columns,
      rows: launch.size.rows,
      scrollbackLines: launch.scrollbackLines,
      answer: (text) => {
        this.input.type(Buffer.from(text, 'binary'));
      },
      changed: () => {
        events.changed();
      },
    });
  }

  get parsedOffset(): number {
    return this.#parsedOffset;
  }

  get size(): { columns: number; rows: number } {
    return { columns: this.#screen.columns, rows: this.#screen.rows };
  }

  get title(): string | null {
    return this.#screen.title;
  }

  get bracketedPaste(): boolean {
    return this.#screen.bracketedPaste;
  }

  get attachedClients(): number {
    return this.#clients.size;
  }

  snapshot(scrollbackLines: number): Uint8Array {
    return this.#screen.snapshot({ scrollbackLines });
  }

  readText(scrollback: number): ScreenText {
    return this.#screen.readText(scrollback);
  }

  frame(): Omit<ScreenFrame, 'ended'> {
    return { revision: this.frames.current, ...frameOf(this.#screen) };
  }

  resize(columns: number, rows: number): void {
    const { columns: oldColumns, rows: oldRows } = this.size;
    if (this.#over || (columns === oldColumns && rows === oldRows)) return;
    this.#screen.resize(columns, rows);
    this.#pty.resize(columns, rows);
    this.frames.advance();
    for (const client of this.#clients) if (client !== this.#seat.driver) this.#tellRole(client);
    this.#events.changed();
  }

  interrupt(): void {
    const key = Buffer.from([3]);
    if (!this.input.overtake(key)) this.input.type(key);
  }

  /** Gives a client its place. The first screen is sent after `greet` has written its answer. */
  attach(
    socket: ConstructorParameters<typeof Attachment>[0]['socket'],
    request: AttachRequest,
    { mode, clientName }: Pick<Grant, 'mode' | 'clientName'>,
    greet: (role: 'driver' | 'watcher', size: { columns: number; rows: number }) => void,
  ): AttachedClient {
    const window = Math.min(Math.max(request.window, WINDOW_BYTES_MIN), WINDOW_BYTES_MAX);
    const { columns, rows } = request;
    const attachment = new Attachment({ socket, session: this, mode, window, columns, rows });
    const client: Client = {
      id: ++this.#attachments,
      clientName,
      attachment,
      replies: new ReplyFilter(this.#screen),
      partialTimer: null,
    };
    this.#clients.add(client);
    this.#seat.enter(client);
    if (client === this.#seat.driver) this.resize(columns, rows);
    greet(this.#role(client), this.size);
    attachment.sendScreen(ATTACH_SCROLLBACK_LINES);
    this.#events.changed();
    return {
      input: (bytes) => {
        this.#typed(client, bytes);
      },
      resize: (newColumns, newRows) => {
        attachment.resized(newColumns, newRows);
        if (client === this.#seat.driver) this.resize(newColumns, newRows);
      },
      acknowledge: (bytes) => {
        attachment.acknowledged(bytes);
      },
      takeOver: () => {
        this.#seat.takeOver(client);
      },
      askToDrive: () => {
        this.#seat.ask(client);
      },
      answerAsk: (answer) => {
        this.#seat.answer(client, answer);
      },
      leave: () => {
        this.#left(client);
      },
    };
  }

  parseSlice(): boolean {
    const end = this.ring.end;
    let slice = this.ring.view(this.#parsedOffset, PARSE_SLICE_BYTES);
    let whole = splitAtSequenceBoundary(slice);
    if (whole === 0 && this.#parsedOffset + slice.length < end) {
      slice = this.ring.view(this.#parsedOffset, SEQUENCE_BYTES_MAX);
      whole = splitAtSequenceBoundary(slice) || (slice.length === SEQUENCE_BYTES_MAX ? slice.length : 0);
    }
    // The rest of a sequence that will never come is shown as what it is.
    if (whole === 0 && this.#exit !== null) whole = slice.length;
    if (whole > 0) {
      this.#screen.write(slice.subarray(0, whole));
      this.#parsedOffset += whole;
      this.frames.advance();
    }
    const left = end - this.#parsedOffset;
    if (left <= RESUME_BYTES) this.#pty.resume();
    if (this.#exit !== null && left === 0) this.#finish(this.#exit);
    return whole > 0 && left > 0;
  }

  dispose(): void {
    this.#pump.forget(this);
    this.frames.close();
    this.input.close();
    this.#pty.resume();
    for (const client of [...this.#clients]) this.#left(client);
    this.#screen.dispose();
  }

  #received(bytes: Uint8Array): void {
    this.ring.append(bytes);
    if (this.#clients.size > 0) this.#flushSoon(bytes.length);
    this.#pump.request(this);
    if (this.ring.end - this.#parsedOffset > PAUSE_BYTES) this.#pty.pause();
  }

  #flushSoon(bytes: number): void {
    const now = performance.now();
    if (now - this.#periodStart > FLOOD_PERIOD_MS) {
      this.#periodStart = now;
      this.#periodBytes = 0;
    }
    this.#periodBytes += bytes;
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    const flush = () => {
      this.#flushScheduled = false;
      for (const client of this.#clients) client.attachment.flush();
    };
    // The first of a period is most often the echo of a key.
    if (this.#periodBytes === bytes) flush();
    else if (this.#periodBytes <= FLOOD_BYTES) setImmediate(flush);
    else setTimeout(flush, this.#periodStart + FLOOD_PERIOD_MS - now);
  }

  #exited({ exitCode, exitSignal }: Omit<ChildExit, 'endedAt'>): void {
    this.#exit = { exitCode, exitSignal, endedAt: Date.now() };
    this.input.close();
    this.#pump.request(this);
  }

  /** Everything is on the screen. */
  #finish(exit: ChildExit): void {
    if (this.#over) return;
    this.#over = true;
    const { exitCode, exitSignal } = exit;
    for (const client of this.#clients) client.attachment.end({ exitCode, exitSignal });
    this.#clients.clear();
    this.#seat.clear();
    this.#events.ended(exit);
    this.frames.close();
  }

  #typed(client: Client, bytes: Uint8Array): void {
    if (client !== this.#seat.driver) return;
    this.input.type(client.replies.filter(bytes));
    if (client.partialTimer !== null) clearTimeout(client.partialTimer);
    client.partialTimer = client.replies.holds
      ? setTimeout(() => {
          client.partialTimer = null;
          if (client === this.#seat.driver) this.input.type(client.replies.flushPending());
        }, PARTIAL_KEY_MS)
      : null;
  }

  #drive(client: Client, previous: Client | null): void {
    if (previous !== null) this.#tellRole(previous);
    this.#tellRole(client);
    const { columns, rows } = client.attachment.size;
    this.resize(columns, rows);
  }

  #left(client: Client): void {
    if (!this.#clients.delete(client)) return;
    client.attachment.close();
    if (client.partialTimer !== null) clearTimeout(client.partialTimer);
    this.#seat.leave(client);
    this.#events.changed();
  }

  #role(client: Client): 'driver' | 'watcher' {
    return client === this.#seat.driver ? 'driver' : 'watcher';
  }

  #tellRole(client: Client): void {
    client.attachment.sendRole({ role: this.#role(client), ...this.size });
  }
}
