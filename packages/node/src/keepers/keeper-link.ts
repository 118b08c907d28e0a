// The node's hold on one keeper: connected, or dialling again, until the keeper is known to be dead. Slow is not dead: only a
// missing process is. Calls work while connected and after the children have been listed, so that every call is later than
// the list that the reconciliation saw.
import {
  FAILURE_CODES,
  FailureError,
  type FailureCode,
  type FailureDetails,
  type KeeperId,
} from '@roost/protocol';
import {
  connectKeeper,
  KeeperFailure,
  KeeperGone,
  KeeperIncompatible,
  KeeperUnreachable,
  type KeeperConnection,
} from '@roost/keeper/client';
import type { ChildState, KeeperCall, KeeperCalls, PipeStream } from '@roost/keeper/wire';
import type { Log } from '@roost/storage';
import { keeperRuns, type KeeperFiles, type KeeperIdentity } from './keeper-files.ts';

/** Milliseconds for one dial, with the list of children: a busy keeper answers within this. */
const DIAL_MS = 5_000;
const REDIAL_MS_FIRST = 100;
const REDIAL_MS_MAX = 5_000;
/** Milliseconds for calls that answer from memory. */
const CALL_MS = 15_000;

export interface KeeperEvents {
  /** After each connect, with the whole truth about its children. */
  connected(link: KeeperLink): void;
  changed(link: KeeperLink, state: ChildState): void;
  output(link: KeeperLink, sessionId: string, stream: PipeStream, offset: number, bytes: Uint8Array): void;
  /** Its process is gone. Called once. */
  dead(link: KeeperLink): void;
}

export interface KeeperLinkEvents extends KeeperEvents {
  /** It holds no child and owes no answer (any more). */
  idle(link: KeeperLink): void;
}

export class KeeperLink {
  readonly id: KeeperId;
  /** What it told last of each child that it still holds. */
  readonly children = new Map<string, ChildState>();
  /** Spawns that chose this keeper and are not yet among its children. */
  reserved = 0;
  readonly #files: KeeperFiles;
  readonly #events: KeeperLinkEvents;
  readonly #log: Log;
  #identity: KeeperIdentity | null;
  #connection: KeeperConnection | null = null;
  /** Its children are being listed. */
  #opening: KeeperConnection | null = null;
  #timer: NodeJS.Timeout | null = null;
  #redialMs = REDIAL_MS_FIRST;
  #closed = false;
  /** Calls that are not answered yet: a stop is answered after its child was released. */
  #underWay = 0;

  constructor(id: KeeperId, options: { files: KeeperFiles; events: KeeperLinkEvents; log: Log }) {
    this.id = id;
    this.#files = options.files;
    this.#events = options.events;
    this.#log = options.log.child({ keeperId: id });
    this.#identity = this.#files.identity(id);
  }

  get isConnected(): boolean {
    return this.#connection !== null;
  }

  get isIdle(): boolean {
    return this.isConnected && this.children.size === 0 && this.#underWay === 0;
  }

  get socketPath(): string {
    return this.#files.socket(this.id);
  }

  get pid(): number | null {
    return this.#connection?.welcome.pid ?? this.#identity?.pid ?? null;
  }

  get version(): string | null {
    return this.#connection?.welcome.version ?? this.#identity?.version ?? null;
  }

  /** Children that run, and spawns on their way. */
  get load(): number {
    let running = 0;
    for (const child of this.children.values()) if (child.exit === null) running += 1;
    return running + this.reserved;
  }

  /** One dial; afterwards the link is connected, dialling again, or dead. */
  async dial(): Promise<void> {
    if (this.#closed || this.#connection !== null) return;
    try {
      await this.use(await connectKeeper(this.socketPath, { timeoutMs: DIAL_MS }));
    } catch (error) {
      if (!(
        error instanceof KeeperUnreachable ||
        error instanceof KeeperGone ||
        error instanceof KeeperIncompatible
      )) {
        this.#log.error({ err: error }, 'dialling a keeper failed unexpectedly');
      }
      this.#afterFailedDial(error);
    }
  }

  /** Takes a fresh connection: lists the children, then is ready for calls. */
  async use(connection: KeeperConnection): Promise<void> {
    if (this.#isClosed()) {
      connection.close();
      return;
    }
    this.#opening = connection;
    let listed = false;
    connection.onEvent((state) => {
      const newest = this.learn(state);
      if (listed) this.#events.changed(this, newest);
    });
    connection.onPipeOutput((...output) => this.#events.output(this, ...output));
    connection.onClose(() => {
      if (this.#connection === connection) this.#lost();
    });
    try {
      const { children } = await connection.call('list', {}, { timeoutMs: DIAL_MS });
      const held = new Set(children.map(({ sessionId }) => sessionId));
      for (const id of this.children.keys()) if (!held.has(id)) this.children.delete(id);
      for (const child of children) this.learn(child);
    } catch (error) {
      connection.close();
      throw error;
    } finally {
      this.#opening = null;
    }
    if (this.#isClosed()) {
      connection.close();
      return;
    }
    listed = true;
    this.#identity = this.#files.identity(this.id) ?? this.#identity;
    this.#connection = connection;
    this.#redialMs = REDIAL_MS_FIRST;
    this.#log.info({ keeperPid: connection.welcome.pid, children: this.children.size }, 'keeper connected');
    this.#events.connected(this);
  }

  /**
   * Asks the keeper. Its refusals come as they are; `keeper-unavailable` means that nothing is known about the outcome.
   * `timeoutMs` null: as long as it takes.
   */
  async call<Call extends KeeperCall>(
    call: Call,
    params: KeeperCalls[Call]['params'],
    timeoutMs: number | null = CALL_MS,
  ): Promise<KeeperCalls[Call]['result']> {
    if (this.#connection === null) throw this.unavailable();
    this.#underWay += 1;
    try {
      return await this.#connection.call(call, params, timeoutMs === null ? {} : { timeoutMs });
    } catch (error) {
      if (error instanceof KeeperFailure) throw refusal(error);
      throw this.unavailable(error);
    } finally {
      this.#underWay -= 1;
      if (this.isIdle) this.#events.idle(this);
    }
  }

  /** Takes what was told of a child and answers the newest of it: events overtake lists and answers to calls. */
  learn(state: ChildState): ChildState {
    const known = this.children.get(state.sessionId);
    if (known !== undefined && isOvertaken(state, known)) return known;
    this.children.set(state.sessionId, state);
    return state;
  }

  /** Everything about a child is stored here: the keeper may forget it. */
  async release(sessionId: string): Promise<void> {
    await this.call('release', { sessionId });
    this.children.delete(sessionId);
    if (this.isIdle) this.#events.idle(this);
  }

  /** Drops a connection on which answers are overdue; the new one begins with the truth about the children. */
  reconnect(): void {
    this.#connection?.close();
  }

  unavailable(cause?: unknown): FailureError {
    return new FailureError('keeper-unavailable', { keeperId: this.id }, { cause });
  }

  /** Lets go of the keeper without an opinion about it; its children go on. */
  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const connection = this.#connection ?? this.#opening;
    this.#connection = null;
    connection?.close();
  }

  /** A function: it may change during every wait. */
  #isClosed(): boolean {
    return this.#closed;
  }

  #lost(): void {
    this.#connection = null;
    if (this.#closed) return;
    this.#log.warn('the connection to a keeper was lost');
    this.#redialSoon();
  }

  #afterFailedDial(error: unknown): void {
    if (this.#closed) return;
    if (!this.#isDead(error)) {
      this.#log.debug({ err: error }, 'a keeper does not answer');
      this.#redialSoon();
      return;
    }
    this.#closed = true;
    this.#log.warn('a keeper is gone');
    this.#files.remove(this.id);
    this.#events.dead(this);
  }

  #isDead(error: unknown): boolean {
    // It may have written its identity since we looked.
    this.#identity = this.#files.identity(this.id) ?? this.#identity;
    if (this.#identity !== null) return !keeperRuns(this.#identity);
    return error instanceof KeeperUnreachable && (error.code === 'ECONNREFUSED' || error.code === 'ENOENT');
  }

  #redialSoon(): void {
    this.#timer = setTimeout(() => void this.dial(), this.#redialMs);
    this.#timer.unref();
    this.#redialMs = Math.min(this.#redialMs * 2, REDIAL_MS_MAX);
  }
}

/** An exit is final, also with a keeper that counts no revisions. */
function isOvertaken(state: ChildState, known: ChildState): boolean {
  if (known.exit !== null && state.exit === null) return true;
  return (known.revision ?? 0) > (state.revision ?? 0);
}

const CODES: ReadonlySet<string> = new Set(FAILURE_CODES);

function refusal(error: KeeperFailure): FailureError {
  const code = CODES.has(error.code) ? (error.code as FailureCode) : 'internal-error';
  return new FailureError(
    code,
    safeDetails(error.details),
    code === 'internal-error' ? { cause: error } : {},
  );
}

/** Of what a keeper tells about a refusal, what the protocol can carry. */
export function safeDetails(details: Readonly<Record<string, unknown>>): FailureDetails {
  const safe: FailureDetails = {};
  for (const [name, value] of Object.entries(details)) {
    if (typeof value === 'number' || typeof value === 'boolean') safe[name] = value;
    else if (typeof value === 'string') safe[name] = value.slice(0, 1_024);
    else if (Array.isArray(value)) {
      const texts = value.filter((entry): entry is string => typeof entry === 'string');
      safe[name] = texts.slice(0, 64).map((text) => text.slice(0, 1_024));
    }
  }
  return safe;
}
