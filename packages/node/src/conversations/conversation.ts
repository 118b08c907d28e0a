// One agent that is spoken with. Its output goes through its driver line by line; what the driver tells goes to the timeline, what it
// writes to the program. The order makes a crash at any moment harmless: first the timeline, then one transaction with the
// driver's state, the place up to which the output was taken, requests and lines to write, then the lines. What was read after the last
// transaction is read again, and comes to the same bytes; what was sent and not known to be is told apart by the keeper's count.
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import {
  FailureError,
  WAIT_MS_MAX,
  type AgentEvent,
  type InteractionReply,
  type SessionId,
} from '@roost/protocol';
import { DRIVER_LINE_BYTES_MAX, findAgentProtocol, type AgentDriver } from '@roost/providers';
import type { ChildState } from '@roost/keeper/wire';
import type { KeeperLink } from '../keepers/keeper-link.ts';
import type { Log } from '@roost/storage';
import { deletePrompt, insertPrompt, waitingPrompts } from '../prompts/waiting-prompts.ts';
import type { PipeOutput } from '../sessions/pipe-output.ts';
import { findSession } from '../sessions/session-table.ts';
import type { Store } from '../store/store.ts';
import { changeConversation, policyOf, type ConversationRow } from './conversation-table.ts';
import { Input } from './input.ts';
import { pendingInteractions, type InteractionRow } from './interaction-table.ts';
import { OutputLines } from './output-lines.ts';
import { PromptJob } from './prompt-job.ts';
import { PromptQueue } from './prompt-queue.ts';
import { Requests } from './requests.ts';
import { entryLine, type Timeline } from './timeline.ts';

/** Bytes of output looked at before others get their turn. */
const READ_BYTES = 256 * 1024;
/** Bytes of output after which a driver's state is stored though nothing else has to be. */
const STORED_EVERY_BYTES = 1024 * 1024;
/** Milliseconds until storing is tried again after the disk refused. */
const RETRY_MS = 1_000;
/** Milliseconds that a timer can wait. */
const TIMER_MS_MAX = 2_147_483_647;
/** Bytes of a prompt as JSON: with what stands around it, the line is one that a keeper takes. */
const PROMPT_BYTES_MAX = 8 * 1024 * 1024;

/** Events that are stored as soon as they come. */
const MOMENTOUS: ReadonlySet<AgentEvent['kind']> = new Set([
  'session-started',
  'identity',
  'turn-started',
  'turn-finished',
  'interaction-requested',
  'interaction-settled',
  'session-ended',
]);

/** An event, and whether a turn was open when it came. */
export interface ToldEvent {
  readonly event: AgentEvent;
  readonly isTurnOpen: boolean;
}

export interface ConversationOptions {
  readonly store: Store;
  readonly output: Pick<PipeOutput, 'readBytes' | 'range'>;
  readonly timeline: Timeline;
  readonly link: () => KeeperLink | null;
  /** Where the agent works. */
  readonly directory: string;
  /** What came of the last output, in order, after it was stored. `hasEnded`: the process has. */
  readonly told: (
    events: readonly ToldEvent[],
    now: { readonly isAsking: boolean; readonly hasEnded: boolean },
  ) => void;
  /** It takes its first prompt. */
  readonly ready: () => void;
  readonly log: Log;
  readonly now: () => number;
}

export class Conversation {
  readonly sessionId: SessionId;
  readonly #options: ConversationOptions;
  readonly #driver: AgentDriver;
  readonly #requests: Requests;
  readonly #prompts: PromptQueue;
  readonly #input: Input;
  readonly #lines: OutputLines;
  readonly #abort = new AbortController();
  /** Told by the driver, and not yet made lines of the timeline. */
  readonly #events: { readonly event: AgentEvent; readonly begins: PromptJob | null }[] = [];
  /** Lines of the timeline that are not written, and where they begin. */
  #unwritten = '';
  #unwrittenBytes = 0;
  #written: number;
  /** Not told to others yet. */
  #told: ToldEvent[] = [];
  #writes: string[] = [];
  #mustStore = false;
  /** Output was read up to here, and taken for good up to there. */
  #readTo: number;
  #storedTo: number;
  #reading: Promise<void> = Promise.resolve();
  #lastSent: Promise<void> = Promise.resolve();
  #expiry: NodeJS.Timeout | null = null;
  #isReceiving = false;
  #wasReady: boolean;
  /** The agent has said that it is over; its process may go on. */
  #isOver = false;
  /** The process has ended. */
  #isEnding = false;
  /** All of its output was taken. */
  #hasEnded = false;
  #isClosed = false;

  /** @throws Error when there is no such protocol, or its driver does not understand its state. */
  constructor(row: ConversationRow, options: ConversationOptions) {
    const { store, timeline, link, log, now } = options;
    const sessionId = row.session_id;
    this.sessionId = sessionId;
    this.#options = options;
    const protocol = findAgentProtocol(row.protocol);
    if (protocol === null) throw new Error(`no protocol ${row.protocol}`);
    const port = {
      emit: (event: AgentEvent) => this.#emit(event),
      write: (line: string) => {
        this.#writes.push(line);
        this.#mustStore = true;
      },
      now,
    };
    const driver = row.state === null ? protocol.create(port) : protocol.restore(port, JSON.parse(row.state));
    if (driver === null) throw new Error(`the state of ${row.protocol} is not understood`);
    this.#driver = driver;
    this.#wasReady = row.state !== null && this.#isReady;
    this.#readTo = row.output_end;
    this.#storedTo = row.output_end;
    this.#written = row.timeline_end;
    timeline.cutAt(row.timeline_end);
    this.#requests = new Requests({
      sessionId,
      policy: policyOf(row),
      waiting: pendingInteractions(store.sql, sessionId),
      answer: (requestId, answer) => driver.answer(requestId, answer),
    });
    this.#prompts = new PromptQueue(
      waitingPrompts(store.sql, sessionId).map((prompt) => new PromptJob(prompt)),
    );
    this.#lines = new OutputLines(DRIVER_LINE_BYTES_MAX, () =>
      this.#notice('A line of the agent was too long.'),
    );
    this.#input = new Input(
      { sessionId, link, broken: () => this.#breakOff(), log },
      row.input_end,
      JSON.parse(row.outbox) as string[],
    );
    if (row.state === null) driver.open({ directory: options.directory, resume: row.resume });
  }

  /** Goes on with the output from where it was taken. */
  begin(): void {
    this.#reading = this.#read().catch((error: unknown) => {
      if (!this.#abort.signal.aborted)
        this.#options.log.error({ sessionId: this.sessionId, err: error }, 'a conversation broke off');
    });
  }

  get isTurnOpen(): boolean {
    return this.#driver.isTurnOpen;
  }

  /** It takes prompts, or has taken one. */
  get #isReady(): boolean {
    return this.#driver.takesPrompt || this.#driver.isTurnOpen;
  }

  /** What the agent asks and nobody has answered, the oldest first. */
  get asked(): readonly InteractionRow[] {
    return this.#requests.waiting;
  }

  /** Its keeper can be asked (again). */
  connected(child: ChildState): void {
    this.#input.connected(child);
  }

  /** @throws FailureError: turn-in-flight when it is not to be queued and another one is under way; backend-busy; invalid-request. */
  async prompt(text: string, isQueued: boolean): Promise<PromptJob> {
    this.#requireOpen();
    if (Buffer.byteLength(JSON.stringify(text)) > PROMPT_BYTES_MAX)
      throw new FailureError('invalid-request', { issues: ['text: too long to be said at once'] });
    if (!isQueued && (this.#driver.isTurnOpen || !this.#prompts.isEmpty))
      throw new FailureError('turn-in-flight', { sessionId: this.sessionId });
    if (this.#prompts.isFull) throw new FailureError('backend-busy', {});
    const id = this.#options.store.transact(({ sql }) => insertPrompt(sql, this.sessionId, text));
    const job = new PromptJob({ id, text });
    this.#prompts.add(job);
    await this.#stored();
    return job;
  }

  /** Ends the turn; does nothing without one. */
  async interrupt(): Promise<void> {
    this.#requireOpen();
    this.#driver.interrupt();
    await this.#delivered();
  }

  /** @throws FailureError: unknown-choice. */
  async choose(choice: string, id: string): Promise<void> {
    this.#requireOpen();
    if (!this.#driver.choose(choice, id)) throw new FailureError('unknown-choice', { choice, id });
    this.#mustStore = true;
    await this.#delivered();
  }

  /** @throws FailureError: interaction-settled, interaction-reply-refused. */
  async answer(row: InteractionRow, reply: InteractionReply): Promise<void> {
    this.#requireOpen();
    const { id: interactionId } = row;
    if (!this.#requests.canAnswer(row)) throw new FailureError('interaction-settled', { interactionId });
    if (!this.#requests.reply(row, reply, 'person'))
      throw new FailureError('interaction-reply-refused', { interactionId });
    await this.#delivered();
  }

  /** The process has ended and all of its output is kept: takes the rest of it, and settles what is open. May be asked again. */
  async finish(fault: string | null): Promise<void> {
    this.#isEnding = true;
    this.#abort.abort();
    await this.#reading;
    while (!this.#hasEnded) {
      const request = { sessionId: this.sessionId, stream: 'stdout', offset: this.#readTo } as const;
      const page = await this.#page({ ...request, maxBytes: READ_BYTES, waitMs: 0 }, () => true);
      this.#take(page.offset, page.bytes);
      if (page.bytes.length === 0) {
        const rest = this.#lines.end();
        if (rest !== null) this.#receive(rest);
        this.#driver.closed(fault);
        this.#hasEnded = true;
        this.#mustStore = true;
      }
      await this.#stored();
      await nextTurn();
    }
    await this.#stored();
    this.close();
  }

  /** The node stops; the agent goes on. */
  close(): void {
    this.#isClosed = true;
    this.#abort.abort();
    this.#input.close();
    if (this.#expiry !== null) clearTimeout(this.#expiry);
    this.#options.timeline.close();
  }

  async #read(): Promise<void> {
    const { signal } = this.#abort;
    await this.#stored();
    this.#expireInTime();
    const request = {
      sessionId: this.sessionId,
      stream: 'stdout',
      maxBytes: READ_BYTES,
      waitMs: WAIT_MS_MAX,
    } as const;
    while (!signal.aborted) {
      const page = await this.#page({ ...request, offset: this.#readTo }, () => false);
      if (page.bytes.length === 0) continue;
      this.#take(page.offset, page.bytes);
      await this.#stored();
      await nextTurn();
    }
  }

  async #page(request: Parameters<PipeOutput['readBytes']>[0], hasEnded: () => boolean) {
    const { output } = this.#options;
    const { floor } = output.range(this.sessionId, 'stdout');
    const offset = Math.max(request.offset, floor);
    return output.readBytes({ ...request, offset }, hasEnded, this.#abort.signal);
  }

  #take(offset: number, bytes: Buffer): void {
    if (offset > this.#readTo) {
      this.#lines.breakOff();
      this.#notice('Some of what the agent said is missing.');
    }
    this.#readTo = offset + bytes.length;
    for (const line of this.#lines.take(bytes)) this.#receive(line);
  }

  #receive(line: string): void {
    this.#isReceiving = true;
    try {
      this.#driver.receive(line);
    } finally {
      this.#isReceiving = false;
    }
  }

  #notice(text: string): void {
    this.#emit({ kind: 'notice', level: 'warning', text });
  }

  #emit(event: AgentEvent): void {
    const begins = this.#prompts.emitted(event, this.#isReceiving);
    this.#events.push({ event, begins });
    if (MOMENTOUS.has(event.kind)) this.#mustStore = true;
    if (event.kind === 'session-ended') this.#isOver = true;
    this.#told.push({ event, isTurnOpen: this.#driver.isTurnOpen });
  }

  /** The agent gets nothing any more: whatever it would have been told, it never learns. */
  #breakOff(): void {
    this.#driver.closed('the agent takes no input');
    this.#mustStore = true;
    this.#stored().catch(() => undefined);
  }

  #requireOpen(): void {
    if (this.#isOver || this.#abort.signal.aborted) throw this.#gone();
  }

  #gone(): FailureError {
    return new FailureError('session-not-running', { sessionId: this.sessionId });
  }

  /** Resolves when the keeper has what was written; one that is out of reach gets it later. */
  async #delivered(): Promise<void> {
    await this.#stored();
    await this.#lastSent.catch((error: unknown) => {
      if (!(error instanceof FailureError) || error.failure.code !== 'keeper-unavailable') throw error;
    });
  }

  /** Stores what has come about, for as long as the disk refuses it. */
  async #stored(): Promise<void> {
    while (!this.#settle()) {
      await delay(RETRY_MS, undefined, { ref: false });
      if (this.#isClosed) throw new FailureError('shutting-down', {});
    }
  }

  #settle(): boolean {
    try {
      do {
        this.#prompts.giveNext(this.#driver);
        this.#makeLines();
        this.#requests.answerByRule();
      } while (this.#events.length > 0);
      this.#writeLines();
      if (this.#mustStore || this.#takenTo - this.#storedTo >= STORED_EVERY_BYTES) this.#commit();
    } catch (error) {
      this.#options.log.error(
        { sessionId: this.sessionId, err: error },
        'a conversation cannot be stored; trying again',
      );
      return false;
    }
    this.#tell();
    return true;
  }

  #makeLines(): void {
    const now = this.#options.now();
    for (const { event, begins } of this.#events.splice(0)) {
      const position = this.#written + this.#unwrittenBytes;
      if (begins !== null) begins.position ??= position;
      const line = entryLine(now, this.#requests.told(event, position, now));
      this.#unwritten += line;
      this.#unwrittenBytes += Buffer.byteLength(line);
    }
  }

  #writeLines(): void {
    if (this.#unwritten === '') return;
    this.#options.timeline.append(this.#written, this.#unwritten);
    this.#written += this.#unwrittenBytes;
    this.#unwritten = '';
    this.#unwrittenBytes = 0;
  }

  /** Up to the line that has begun. */
  get #takenTo(): number {
    return this.#readTo - this.#lines.pendingBytes;
  }

  #commit(): void {
    const takenTo = this.#takenTo;
    this.#options.store.transact((transaction) => {
      const { sql } = transaction;
      const session = findSession(sql, this.sessionId);
      if (session === null) return;
      this.#requests.store(transaction, session);
      for (const { id } of this.#prompts.given) deletePrompt(sql, id);
      changeConversation(sql, this.sessionId, {
        state: JSON.stringify(this.#driver.state()),
        output_end: takenTo,
        timeline_end: this.#written,
        input_end: this.#input.end,
        outbox: JSON.stringify([...this.#input.lines, ...this.#writes]),
      });
    });
    this.#storedTo = takenTo;
    this.#mustStore = false;
    this.#requests.stored();
    const writes = this.#writes.splice(0);
    // Those before are sent first: the last ones tell of all.
    if (writes.length > 0) this.#lastSent = this.#input.add(writes);
    this.#lastSent.catch(() => undefined);
    this.#prompts.stored(this.#lastSent);
    this.#expireInTime();
  }

  #tell(): void {
    const { told, ready } = this.#options;
    this.#prompts.tell();
    if (this.#isOver) this.#prompts.fail(this.#gone());
    if (!this.#wasReady && this.#isReady) {
      this.#wasReady = true;
      // One that was given its first prompt at once is at work: what its turn tells is all there is to say.
      if (this.#driver.takesPrompt) ready();
    }
    const events = this.#told.splice(0);
    const isAsking = this.#requests.waiting.length > 0;
    if (events.length > 0) told(events, { isAsking, hasEnded: this.#isEnding });
  }

  #expireInTime(): void {
    if (this.#expiry !== null) clearTimeout(this.#expiry);
    this.#expiry = null;
    const next = this.#requests.nextExpiry;
    if (next === null || this.#isClosed) return;
    const wait = Math.min(Math.max(next - this.#options.now(), 0), TIMER_MS_MAX);
    this.#expiry = setTimeout(() => {
      this.#requests.expire(this.#options.now());
      this.#stored().catch(() => undefined);
      this.#expireInTime();
    }, wait).unref();
  }
}
