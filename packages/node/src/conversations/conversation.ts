// One agent that is spoken with. Its output goes through its driver line by line; what the driver tells goes to the timeline, what it
// writes to the program. The order makes a crash at any moment harmless: first the timeline, then one transaction with the
// driver's state, the place up to which the output was taken, requests and lines to write, then the lines. What was read after the last
// transaction is read again, and comes to the same; what was sent and not known to be is told apart by the keeper's count.
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import {
  FailureError,
  InteractionId,
  WAIT_MS_MAX,
  type AgentEvent,
  type InteractionAnswerer,
  type InteractionPolicy,
  type InteractionReply,
  type SessionId,
} from '@roost/protocol';
import { DRIVER_LINE_BYTES_MAX, findAgentProtocol, type AgentDriver } from '@roost/providers';
import type { ChildState } from '@roost/keeper/wire';
import type { KeeperLink } from '../keepers/keeper-link.ts';
import type { Log } from '../log.ts';
import type { PipeOutput } from '../sessions/pipe-output.ts';
import { findSession } from '../sessions/session-table.ts';
import type { Store } from '../store/store.ts';
import {
  changeConversation,
  deletePrompt,
  insertPrompt,
  policyOf,
  waitingPrompts,
  type ConversationRow,
} from './conversation-table.ts';
import { Input } from './input.ts';
import { answerFor, ruleFor } from './interaction-policy.ts';
import {
  insertInteraction,
  optionsOf,
  pendingInteractions,
  settleInteraction,
  type InteractionRow,
} from './interaction-table.ts';
import { addEvent } from './join-pieces.ts';
import { OutputLines } from './output-lines.ts';
import { PromptJob } from './prompt-job.ts';
import { entryLine, type Timeline } from './timeline.ts';

/** Bytes of output looked at before others get their turn. */
const READ_BYTES = 256 * 1024;
/** Bytes of output after which a driver's state is stored though nothing else has to be. */
const STORED_EVERY_BYTES = 1024 * 1024;
/** Milliseconds until storing is tried again after the disk refused. */
const RETRY_MS = 1_000;
/** Prompts of one session that wait for their turn. */
const PROMPTS_WAITING_MAX = 32;
/** Milliseconds that a timer can wait. */
const TIMER_MS_MAX = 2_147_483_647;

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

type Change =
  | { readonly kind: 'asked'; readonly row: InteractionRow }
  | {
      readonly kind: 'settled';
      readonly row: InteractionRow;
      readonly how: Pick<InteractionRow, 'state' | 'outcome' | 'answered_by' | 'settled_at'>;
    };

export class Conversation {
  readonly sessionId: SessionId;
  readonly #options: ConversationOptions;
  readonly #driver: AgentDriver;
  readonly #policy: InteractionPolicy;
  readonly #input: Input;
  readonly #lines: OutputLines;
  readonly #abort = new AbortController();
  /** What the agent asks and nobody has answered, by the provider's id. */
  readonly #asked = new Map<string, InteractionRow>();
  /** Who answers what is being answered just now. */
  readonly #answering = new Map<string, InteractionAnswerer>();
  readonly #jobs: PromptJob[];
  /** Whose turn runs. */
  #turnJob: PromptJob | null = null;
  /** Told by the driver, and not yet made lines of the timeline. */
  readonly #events: AgentEvent[] = [];
  /** Lines of the timeline that are not written, and where they begin. */
  #unwritten = '';
  #unwrittenBytes = 0;
  #written: number;
  /** Not told to others yet. */
  #told: ToldEvent[] = [];
  #writes: string[] = [];
  #given: PromptJob[] = [];
  #changes: Change[] = [];
  #mustStore = false;
  #readTo: number;
  #storedTo: number;
  #reading: Promise<void> = Promise.resolve();
  #expiry: NodeJS.Timeout | null = null;
  #lastSent: Promise<void> = Promise.resolve();
  #isReceiving = false;
  #wasReady: boolean;
  /** The agent has said that it is over; its process may go on. */
  #isOver = false;
  #isClosing = false;
  /** All of its output was taken. */
  #ended = false;
  #isClosed = false;

  /** @throws Error when there is no such protocol, or its driver does not understand its state. */
  constructor(row: ConversationRow, options: ConversationOptions) {
    const { store, timeline, link, log, now } = options;
    this.sessionId = row.session_id;
    this.#options = options;
    this.#policy = policyOf(row);
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
    this.#wasReady = row.state !== null && (driver.takesPrompt || driver.isTurnOpen);
    this.#readTo = row.output_end;
    this.#storedTo = row.output_end;
    this.#written = row.timeline_end;
    timeline.cutAt(row.timeline_end);
    for (const asked of pendingInteractions(store.sql, this.sessionId))
      this.#asked.set(asked.request_id, asked);
    this.#jobs = waitingPrompts(store.sql, this.sessionId).map((prompt) => new PromptJob(prompt));
    this.#lines = new OutputLines(DRIVER_LINE_BYTES_MAX, () =>
      this.#notice('A line of the agent was too long.'),
    );
    this.#input = new Input(
      { sessionId: this.sessionId, link, log },
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

  /** Its keeper can be asked (again). */
  connected(child: ChildState): void {
    this.#input.connected(child);
  }

  /** @throws FailureError: turn-in-flight when it is not to be queued and another one is under way; backend-busy. */
  async prompt(text: string, isQueued: boolean): Promise<PromptJob> {
    this.#requireOpen();
    if (!isQueued && (this.#driver.isTurnOpen || this.#jobs.length > 0))
      throw new FailureError('turn-in-flight', { sessionId: this.sessionId });
    if (this.#jobs.length >= PROMPTS_WAITING_MAX) throw new FailureError('backend-busy', {});
    const id = this.#options.store.transact(({ sql }) => insertPrompt(sql, this.sessionId, text));
    const job = new PromptJob({ id, text });
    this.#jobs.push(job);
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
    const asked = this.#asked.get(row.request_id);
    if (asked?.id !== row.id || this.#answering.has(row.request_id))
      throw new FailureError('interaction-settled', { interactionId });
    if (!this.#reply(asked, reply, 'person'))
      throw new FailureError('interaction-reply-refused', { interactionId });
    await this.#delivered();
  }

  /** The process has ended and all of its output is kept: takes the rest of it, and settles what is open. May be asked again. */
  async finish(fault: string | null): Promise<void> {
    this.#isClosing = true;
    this.#abort.abort();
    await this.#reading;
    if (!this.#ended) {
      const { output } = this.#options;
      for (;;) {
        const request = { sessionId: this.sessionId, stream: 'stdout', offset: this.#readTo } as const;
        const page = await this.#page({ ...request, maxBytes: READ_BYTES, waitMs: 0 }, () => true);
        this.#take(page.offset, page.bytes);
        await this.#stored();
        if (this.#readTo >= output.range(this.sessionId, 'stdout').end) break;
      }
      const rest = this.#lines.end();
      if (rest !== null) this.#receive(rest);
      this.#driver.closed(fault);
      this.#ended = true;
      this.#mustStore = true;
    }
    await this.#stored();
    this.close();
  }

  /** The node stops; the agent goes on. */
  close(): void {
    this.#isClosed = true;
    this.#abort.abort();
    if (this.#expiry !== null) clearTimeout(this.#expiry);
    this.#options.timeline.close();
  }

  async #read(): Promise<void> {
    const { signal } = this.#abort;
    await this.#stored();
    this.#expireInTime();
    while (!signal.aborted) {
      const page = await this.#page(
        {
          sessionId: this.sessionId,
          stream: 'stdout',
          offset: this.#readTo,
          maxBytes: READ_BYTES,
          waitMs: WAIT_MS_MAX,
        },
        () => false,
      );
      if (page.bytes.length === 0) continue;
      this.#take(page.offset, page.bytes);
      await this.#stored();
      await nextTurn();
    }
  }

  async #page(...[request, hasEnded]: [Parameters<PipeOutput['readBytes']>[0], () => boolean]) {
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
    addEvent(this.#events, event);
    if (MOMENTOUS.has(event.kind)) this.#mustStore = true;
    if (event.kind === 'session-ended') this.#isOver = true;
    if (this.#isReceiving && event.kind !== 'notice') this.#turnJob?.advance('accepted');
    this.#told.push({ event, isTurnOpen: this.#driverIsIn() });
  }

  /** While it is being made, it is in no turn. */
  #driverIsIn(): boolean {
    return (this.#driver as AgentDriver | undefined)?.isTurnOpen ?? false;
  }

  #requireOpen(): void {
    if (this.#isOver || this.#abort.signal.aborted) throw this.#gone();
  }

  #gone(): FailureError {
    return new FailureError('session-not-running', { sessionId: this.sessionId });
  }

  /** Resolves when the keeper has what was written. @throws FailureError: keeper-unavailable: it gets it later. */
  async #delivered(): Promise<void> {
    await this.#stored();
    await this.#lastSent;
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
        this.#giveNext();
        this.#makeLines();
        this.#answerByRule();
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

  #giveNext(): void {
    const [job] = this.#jobs;
    if (job === undefined || !this.#driver.takesPrompt || !this.#driver.prompt(job.text)) return;
    this.#jobs.shift();
    this.#turnJob = job;
    this.#given.push(job);
    this.#mustStore = true;
  }

  #makeLines(): void {
    const now = this.#options.now();
    for (const event of this.#events.splice(0)) {
      const position = this.#written + this.#unwrittenBytes;
      if (event.kind === 'turn-started' && this.#turnJob !== null) this.#turnJob.position ??= position;
      const line = entryLine(now, this.#withOurId(event, position, now));
      this.#unwritten += line;
      this.#unwrittenBytes += Buffer.byteLength(line);
    }
  }

  /** Requests are told by an id of ours, made of where they stand: read again, it is the same. */
  #withOurId(event: AgentEvent, position: number, now: number): AgentEvent {
    switch (event.kind) {
      case 'interaction-requested': {
        const row = askedRow(event, {
          sessionId: this.sessionId,
          position,
          now,
          deadlineMs: this.#policy.deadlineMs,
        });
        this.#asked.set(event.requestId, row);
        this.#changes.push({ kind: 'asked', row });
        return { ...event, requestId: row.id };
      }
      case 'interaction-settled': {
        const row = this.#asked.get(event.requestId);
        if (row === undefined) return event;
        const by = this.#answering.get(event.requestId) ?? null;
        this.#asked.delete(event.requestId);
        this.#answering.delete(event.requestId);
        const { outcome } = event;
        const state = outcome === 'withdrawn' ? 'withdrawn' : by === 'deadline' ? 'expired' : 'answered';
        const how = {
          state,
          outcome,
          answered_by: outcome === 'withdrawn' ? null : by,
          settled_at: now,
        } as const;
        this.#changes.push({ kind: 'settled', row, how });
        return { ...event, requestId: row.id };
      }
      default:
        return event;
    }
  }

  #answerByRule(): void {
    for (const change of this.#changes) {
      if (change.kind !== 'asked' || this.#asked.get(change.row.request_id) !== change.row) continue;
      const reply = ruleFor(this.#policy, change.row);
      if (reply !== null && !this.#answering.has(change.row.request_id))
        this.#reply(change.row, reply, 'rule');
    }
  }

  #reply(row: InteractionRow, reply: InteractionReply, by: InteractionAnswerer): boolean {
    const answer = answerFor(reply, { kind: row.kind, options: optionsOf(row) });
    if (answer === null) return false;
    this.#answering.set(row.request_id, by);
    const isTaken = this.#driver.answer(row.request_id, answer);
    if (!isTaken) this.#answering.delete(row.request_id);
    return isTaken;
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
    const { store } = this.#options;
    const takenTo = this.#takenTo;
    store.transact((transaction) => {
      const { sql } = transaction;
      const session = findSession(sql, this.sessionId);
      if (session === null) return;
      for (const change of this.#changes) {
        if (change.kind === 'asked') insertInteraction(transaction, session, change.row);
        else settleInteraction(transaction, session, change.row, change.how);
      }
      for (const { id } of this.#given) deletePrompt(sql, id);
      changeConversation(sql, this.sessionId, {
        state: JSON.stringify(this.#driver.state()),
        output_end: takenTo,
        timeline_end: this.#written,
        input_end: this.#input.end,
        outbox: JSON.stringify([...this.#input.lines, ...this.#writes]),
      });
    });
    this.#storedTo = takenTo;
    this.#changes = [];
    this.#mustStore = false;
    this.#send();
    this.#expireInTime();
  }

  #send(): void {
    const given = this.#given.splice(0);
    const sent = this.#input.add(this.#writes.splice(0));
    this.#lastSent = sent;
    sent.then(
      () => {
        for (const job of given) job.advance('written');
      },
      (error: unknown) => {
        for (const job of given) if (error instanceof FailureError) job.fail(error);
      },
    );
  }

  #tell(): void {
    const { told, ready } = this.#options;
    const events = this.#told.splice(0);
    for (const { event } of events) {
      if (event.kind !== 'turn-finished' || this.#turnJob === null) continue;
      this.#turnJob.outcome = event.outcome;
      this.#turnJob.advance('answered');
      this.#turnJob = null;
    }
    if (this.#isOver) for (const job of this.#jobs.splice(0)) job.fail(this.#gone());
    if (!this.#wasReady && this.#driver.takesPrompt) {
      this.#wasReady = true;
      ready();
    }
    if (events.length > 0) told(events, { isAsking: this.#asked.size > 0, hasEnded: this.#isClosing });
  }

  /** What nobody answers in time is refused. */
  #expireInTime(): void {
    if (this.#expiry !== null) clearTimeout(this.#expiry);
    this.#expiry = null;
    const times = [...this.#asked.values()].flatMap(({ expires_at: at }) => (at === null ? [] : [at]));
    if (times.length === 0 || this.#isClosed) return;
    const wait = Math.min(Math.max(Math.min(...times) - this.#options.now(), 0), TIMER_MS_MAX);
    this.#expiry = setTimeout(() => {
      const now = this.#options.now();
      for (const row of [...this.#asked.values()]) {
        if (row.expires_at === null || row.expires_at > now || this.#answering.has(row.request_id)) continue;
        this.#reply(row, { kind: 'refuse', message: null }, 'deadline');
      }
      this.#stored().catch(() => undefined);
      this.#expireInTime();
    }, wait).unref();
  }
}

function askedRow(
  event: Extract<AgentEvent, { kind: 'interaction-requested' }>,
  {
    sessionId,
    position,
    now,
    deadlineMs,
  }: { sessionId: SessionId; position: number; now: number; deadlineMs: number | null },
): InteractionRow {
  const id = createHash('sha256').update(`${sessionId}:${position}`).digest('hex').slice(0, 24);
  return {
    id: InteractionId.parse(id),
    session_id: sessionId,
    request_id: event.requestId,
    kind: event.interaction,
    tool: event.tool,
    title: event.title,
    detail: event.detail,
    options: JSON.stringify(event.options),
    state: 'pending',
    outcome: null,
    answered_by: null,
    asked_at: now,
    expires_at: deadlineMs === null ? null : now + deadlineMs,
    settled_at: null,
  };
}
