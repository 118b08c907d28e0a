// Exactly once for each idempotency key: whoever asks again gets the first outcome, whatever has changed since, and whoever asks for
// something else under the same key is refused. Looked up before anything is validated. A launch that this start of the node did
// not make itself (a crash lies between) is decided from what its session came to be.
import {
  FailureError,
  failure,
  type Failure,
  type IdempotencyKey,
  type Result,
  SpawnReceipt,
} from '@roost/protocol';
import { canonicalDigest } from '../canonical-json.ts';
import type { KeeperPool } from '../keepers/keeper-pool.ts';
import type { Log } from '@roost/storage';
import { cameToRun } from '../sessions/came-to-run.ts';
import type { SessionLifecycle } from '../sessions/lifecycle.ts';
import { findSession, type SessionRow } from '../sessions/session-table.ts';
import type { Store, Transaction } from '../store/store.ts';
import { leaseOfKey } from '../managed-worktrees/lease-table.ts';
import { forgetLaunch } from './forget-launch.ts';
import {
  countKept,
  findLaunch,
  insertFailed,
  insertPending,
  makeRoom,
  outcomeOf,
  pendingLaunches,
  pruneSettled,
  settleAccepted,
  settleFailed,
  type LaunchOutcome,
  type LedgerRow,
  type NewLaunch,
} from './ledger-table.ts';

/** Launches that are remembered for one client. */
const LAUNCHES_PER_CLIENT_MAX = 256;
/** Milliseconds for which a client can count on an outcome; older ones make room. */
const SURE_MS = 15 * 60_000;
/** Milliseconds after which an outcome is forgotten. */
const KEPT_MS = 24 * 60 * 60_000;
/** Milliseconds between attempts to decide a launch. */
const RETRY_MS = 1_000;
const PRUNE_INTERVAL_MS = 10 * 60_000;
/** Rows of one pruning step: each step holds the event loop. */
const PRUNE_STEP = 500;

interface LedgerOptions {
  readonly store: Store;
  readonly keepers: Pick<KeeperPool, 'get'>;
  readonly lifecycle: SessionLifecycle;
  readonly removed: () => void;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

export interface LaunchRequest {
  readonly key: IdempotencyKey;
  /** Everything that was asked for: whoever asks for something else under the key is refused. */
  readonly request: unknown;
  /** false: one that was too late before anything was stored may be asked for again. */
  readonly isLateRemembered?: boolean;
}

/** What a launch tells the ledger. */
export interface LaunchEntry {
  /** Of the request. */
  readonly digest: string;
  /** Part of the transaction that stores the launch. */
  readonly intended: (transaction: Transaction, receipt: SpawnReceipt) => void;
  /** Part of the transaction that forgets it. */
  readonly forgotten: (transaction: Transaction, failure: Failure) => void;
}

interface Running {
  readonly owner: string;
  readonly digest: string;
  readonly outcome: Promise<SpawnReceipt>;
}

interface Undecided {
  readonly key: IdempotencyKey;
  readonly outcome: Promise<LaunchOutcome>;
  readonly settle: (outcome: LaunchOutcome) => void;
  readonly timer: NodeJS.Timeout;
}

export class SpawnLedger {
  readonly #options: LedgerOptions;
  readonly #now: () => number;
  /** Launches that this process makes, by key. */
  readonly #running = new Map<string, Running>();
  /** Launches of an earlier start whose keeper has not told yet, by session. */
  readonly #undecided = new Map<string, Undecided>();
  /** Outcomes that stand and are not stored yet, by key. */
  readonly #told = new Map<string, LaunchOutcome>();
  readonly #stopListening: () => void;
  readonly #pruning: NodeJS.Timeout;
  #closed = false;

  /** After keepers were adopted: what they told is in the rows. */
  constructor(options: LedgerOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    for (const row of pendingLaunches(options.store.sql)) void this.#recover(row);
    this.#stopListening = options.store.onEvent(({ body }) => {
      if (body.kind === 'session-changed') this.#decideSoon(body.session.id);
      else if (body.kind === 'session-removed') this.#decideSoon(body.sessionId);
    });
    this.#pruning = setInterval(() => this.prune(), PRUNE_INTERVAL_MS);
    this.#pruning.unref();
  }

  /**
   * Makes the launch, unless its key is known.
   * @throws FailureError: spawn-idempotency-conflict, spawn-idempotency-capacity; the first failure of the launch.
   */
  async submit(
    { key, request, isLateRemembered = true }: LaunchRequest,
    owner: string,
    launch: (entry: LaunchEntry) => Promise<SpawnReceipt>,
  ): Promise<SpawnReceipt> {
    const digest = canonicalDigest(request);
    const known = this.#known(key, digest);
    if (known !== null) return known;
    this.#checkQuota(owner);
    const entry = { key, owner, digest, acceptedAt: this.#now() };
    const outcome = this.#launch(entry, launch, isLateRemembered);
    this.#running.set(key, { owner, digest, outcome });
    try {
      return await outcome;
    } finally {
      this.#running.delete(key);
    }
  }

  result(key: IdempotencyKey): Result<'spawn.result'> {
    const row = findLaunch(this.#options.store.sql, key);
    if (row === null) return { state: this.#running.has(key) ? 'pending' : 'unknown' };
    const outcome = this.#outcomeOf(row);
    if (outcome === null) return { state: 'pending' };
    return 'failure' in outcome ? { state: 'failed', ...outcome } : { state: 'accepted', ...outcome };
  }

  /** Forgets what is too old, a little at a time. */
  prune(): void {
    if (this.#closed) return;
    try {
      const { store } = this.#options;
      const more = store.transact(({ sql }) => pruneSettled(sql, this.#now() - KEPT_MS, PRUNE_STEP));
      if (more) setImmediate(() => this.prune());
    } catch (error) {
      this.#options.log.warn({ err: error }, 'old launches could not be forgotten');
    }
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#pruning);
    this.#stopListening();
    for (const { timer } of this.#undecided.values()) clearTimeout(timer);
  }

  #known(key: IdempotencyKey, digest: string): Promise<SpawnReceipt> | null {
    const row = findLaunch(this.#options.store.sql, key);
    const running = this.#running.get(key);
    // A launch into a worktree that a crash cut off has its worktree first.
    const first = row?.digest ?? running?.digest ?? leaseOfKey(this.#options.store.sql, key)?.digest;
    if (first === undefined) return null;
    if (first !== digest) throw new FailureError('spawn-idempotency-conflict', { idempotencyKey: key });
    if (running !== undefined) return running.outcome;
    return row === null ? null : this.#stored(row);
  }

  async #stored(row: LedgerRow): Promise<SpawnReceipt> {
    const outcome = this.#outcomeOf(row) ?? (await this.#recover(row));
    if ('failure' in outcome) throw FailureError.from(outcome.failure);
    return outcome.receipt;
  }

  #checkQuota(owner: string): void {
    const { sql } = this.#options.store;
    // Those that run and are not stored yet count too.
    const begun = [...this.#running].filter(
      ([key, running]) => running.owner === owner && findLaunch(sql, key) === null,
    );
    if (countKept(sql, owner, this.#now() - SURE_MS) + begun.length >= LAUNCHES_PER_CLIENT_MAX) {
      throw new FailureError('spawn-idempotency-capacity', { limit: LAUNCHES_PER_CLIENT_MAX });
    }
  }

  async #launch(
    entry: NewLaunch,
    launch: (entry: LaunchEntry) => Promise<SpawnReceipt>,
    isLateRemembered: boolean,
  ): Promise<SpawnReceipt> {
    try {
      const receipt = await launch({
        digest: entry.digest,
        intended: ({ sql }, made) => {
          this.#makeRoom(sql, entry.owner);
          insertPending(sql, entry, made);
        },
        forgotten: ({ sql }, reason) => settleFailed(sql, entry.key, reason, this.#now()),
      });
      this.#accept(entry.key, receipt);
      return receipt;
    } catch (error) {
      if (isLateRemembered) this.#rememberLate(entry, error);
      throw error;
    }
  }

  #makeRoom(sql: Store['sql'], owner: string): void {
    makeRoom(sql, owner, LAUNCHES_PER_CLIENT_MAX - 1, this.#now() - SURE_MS);
  }

  /** A launch that was too late before anything of it was stored is late for whoever asks again. */
  #rememberLate(entry: NewLaunch, error: unknown): void {
    const { store, log } = this.#options;
    if (!(error instanceof FailureError) || error.failure.code !== 'spawn-deadline-exceeded') return;
    try {
      store.transact(({ sql }) => {
        if (findLaunch(sql, entry.key) !== null) return;
        this.#makeRoom(sql, entry.owner);
        insertFailed(sql, entry, error.failure, this.#now());
      });
    } catch (cause) {
      log.warn({ err: cause }, 'a late launch could not be remembered');
    }
  }

  /** It runs, and its receipt is stored. */
  #accept(key: string, receipt: SpawnReceipt): void {
    this.#store(key, { receipt }, ({ sql }) => settleAccepted(sql, key, this.#now()));
  }

  /** At once, or as soon as the disk takes it; the outcome stands from now on. */
  #store(key: string, outcome: LaunchOutcome, change: (transaction: Transaction) => void): void {
    const { lifecycle } = this.#options;
    this.#told.set(key, outcome);
    lifecycle.write(change);
    // Its turn comes when the one before it is committed.
    lifecycle.write(() => this.#told.delete(key));
  }

  /** null: not decided yet. */
  #outcomeOf(row: LedgerRow): LaunchOutcome | null {
    return outcomeOf(row) ?? this.#told.get(row.key) ?? null;
  }

  /** What became of a launch of an earlier start: known now, or as soon as its keeper tells. */
  #recover(row: LedgerRow): Promise<LaunchOutcome> {
    const sessionId = row.session_id ?? '';
    const waiting = this.#undecided.get(sessionId);
    if (waiting !== undefined) return waiting.outcome;
    const decided = this.#decide(row);
    if (decided !== null) return Promise.resolve(decided);
    let settle: (outcome: LaunchOutcome) => void = () => undefined;
    const outcome = new Promise<LaunchOutcome>((resolve) => (settle = resolve));
    const timer = setTimeout(() => this.#attempt(() => this.#giveUp(sessionId)), this.#timeLeft(row));
    timer.unref();
    this.#undecided.set(sessionId, { key: row.key, outcome, settle, timer });
    return outcome;
  }

  #decideSoon(sessionId: string): void {
    if (!this.#undecided.has(sessionId)) return;
    // Not within the publication of an event: what is decided has events of its own.
    setImmediate(() => {
      this.#attempt(() => this.#decideNow(sessionId));
    });
  }

  /** Nobody hears an error of work that runs by itself: it is tried again. */
  #attempt(work: () => void): void {
    if (this.#closed) return;
    try {
      work();
    } catch (error) {
      this.#options.log.warn({ err: error }, 'a launch cannot be decided now; trying again');
      setTimeout(() => this.#attempt(work), RETRY_MS).unref();
    }
  }

  #decideNow(sessionId: string): void {
    const undecided = this.#undecided.get(sessionId);
    if (undecided === undefined) return;
    const row = findLaunch(this.#options.store.sql, undecided.key);
    const outcome = row === null ? null : this.#decide(row);
    if (outcome !== null) this.#settled(sessionId, outcome);
  }

  #decide(row: LedgerRow): LaunchOutcome | null {
    const session = row.session_id === null ? null : findSession(this.#options.store.sql, row.session_id);
    const runs = cameToRun(session);
    if (runs === null) return null;
    if (!runs) return this.#forget(row, session, failure('spawn-failed'), 'nothing-runs');
    const receipt = SpawnReceipt.parse(JSON.parse(row.receipt ?? 'null'));
    this.#accept(row.key, receipt);
    return { receipt };
  }

  /** Its time is over, and its keeper has still not told. */
  #giveUp(sessionId: string): void {
    const undecided = this.#undecided.get(sessionId);
    if (undecided === undefined) return;
    const { store, keepers, lifecycle } = this.#options;
    const row = findLaunch(store.sql, undecided.key);
    const session = findSession(store.sql, sessionId);
    if (row === null || session === null) return;
    this.#settled(sessionId, this.#forget(row, session, failure('spawn-deadline-exceeded'), 'may-run'));
    const link = keepers.get(session.keeper_id);
    if (link !== null) void lifecycle.discards.end(link, session.id);
  }

  #forget(
    row: LedgerRow,
    session: SessionRow | null,
    reason: Failure,
    evidence: 'nothing-runs' | 'may-run',
  ): LaunchOutcome {
    const { lifecycle, removed } = this.#options;
    const outcome: LaunchOutcome = { failure: reason };
    this.#store(row.key, outcome, (transaction) => {
      settleFailed(transaction.sql, row.key, reason, this.#now());
      if (session !== null)
        forgetLaunch(transaction, lifecycle.discards, { session, ownRecord: true, evidence });
    });
    if (session?.status === 'lost' && session.keeper_id !== null) {
      void lifecycle.discards.lostKeeper(session.keeper_id);
    }
    removed();
    return outcome;
  }

  #settled(sessionId: string, outcome: LaunchOutcome): void {
    const undecided = this.#undecided.get(sessionId);
    if (undecided === undefined) return;
    clearTimeout(undecided.timer);
    this.#undecided.delete(sessionId);
    undecided.settle(outcome);
  }

  /** Milliseconds until its deadline, told by a clock that may have jumped: never more than it had. */
  #timeLeft(row: LedgerRow): number {
    const { deadlineMs } = SpawnReceipt.parse(JSON.parse(row.receipt ?? 'null'));
    return Math.min(Math.max(0, row.accepted_at + deadlineMs - this.#now()), deadlineMs);
  }
}
