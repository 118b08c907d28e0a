// Managed worktrees as a whole: who asks for one, who works in one, when one goes. One work at a time on each lease; every work on any
// waits until the start has held the rows against what is there, short of those on which something is still at work: these hold
// their own lock. Work goes on when its caller is gone, and stops with the node.
import {
  FailureError,
  type IdempotencyKey,
  type LeaseChoice,
  type LeaseEvidence,
  type LeaseId,
  type Params,
  type SpawnReceipt,
} from '@roost/protocol';
import { canonicalDigest } from '../canonical-json.ts';
import type { Caller } from '../control/handlers.ts';
import { Deadline } from '../deadline.ts';
import {
  decideLaunch,
  planDecided,
  settleProvider,
  startDecided,
  type LaunchScene,
} from '../spawn/launch-spec.ts';
import { findLaunch } from '../spawn/ledger-table.ts';
import type { LaunchEntry } from '../spawn/ledger.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { finishWorktree, makeWorktree, reserveLease, type AllocationCause } from './allocation.ts';
import { cleanUp, mayGoByItself } from './cleanup.ts';
import { evidenceOf } from './evidence.ts';
import { canBeHeld } from './lease-states.ts';
import {
  changeLease,
  findLease,
  leaseOfKey,
  leftoversOf,
  listLeases,
  requireLease,
  workspaceOf,
  type LeaseRow,
} from './lease-table.ts';
import { reconcileLease } from './reconcile.ts';
import { resolveLease } from './resolve.ts';
import type { ManagedScene } from './scene.ts';

/** Milliseconds between two looks whether what is left of removed sessions is gone. */
const LEFTOVERS_MS = 1_000;

export class ManagedWorktrees {
  readonly #scene: ManagedScene;
  readonly #launches: LaunchScene;
  readonly #stopping: AbortController;
  readonly #running = new Set<Promise<unknown>>();
  /** Allocations under way, by key. */
  readonly #allocating = new Map<string, { readonly digest: string; readonly outcome: Promise<LeaseRow> }>();
  readonly #waiting = new Set<NodeJS.Timeout>();
  readonly #stopListening: () => void;
  #reconciled: Promise<void> = Promise.resolve();

  constructor(scene: Omit<ManagedScene, 'signal'>, launches: LaunchScene) {
    this.#stopping = new AbortController();
    this.#scene = { ...scene, signal: this.#stopping.signal };
    this.#launches = launches;
    this.#stopListening = scene.store.onEvent(({ body }) => {
      if (body.kind !== 'worktree-changed' || body.lease.state !== 'ready') return;
      const { id } = body.lease;
      // Not within the publication of an event: what comes of it has events of its own.
      setImmediate(() => this.#tidySoon(id));
    });
  }

  /** Once, when sessions are what their keepers say. Everything else waits for it. */
  start(): void {
    this.#reconciled = this.#track(this.#reconcileAll());
  }

  async allocate(request: Params<'worktree.allocate'>): Promise<LeaseRow> {
    await this.#reconciled;
    const { idempotencyKey: key, ...asked } = request;
    const digest = canonicalDigest(asked);
    const running = this.#allocating.get(key);
    const known = leaseOfKey(this.#sql, key);
    const first = running?.digest ?? known?.digest ?? findLaunch(this.#sql, key)?.digest ?? digest;
    if (first !== digest) throw new FailureError('spawn-idempotency-conflict', { idempotencyKey: key });
    if (running !== undefined) return running.outcome;
    const outcome = this.#track(this.#allocateOnce(request, digest, known));
    this.#allocating.set(key, { digest, outcome });
    try {
      return await outcome;
    } finally {
      this.#allocating.delete(key);
    }
  }

  /** Part of a launch that the ledger remembers. @throws FailureError: those of an allocation and of a launch. */
  spawn(request: Params<'worktree.spawn'>, caller: Caller, entry: LaunchEntry): Promise<SpawnReceipt> {
    return this.#track(this.#spawn(request, caller, entry));
  }

  async cleanup(leaseId: LeaseId): Promise<LeaseRow> {
    await this.#reconciled;
    return this.#locked(leaseId, () => cleanUp(this.#scene, leaseId, 'explicit'));
  }

  async evidence(leaseId: LeaseId): Promise<LeaseEvidence> {
    await this.#reconciled;
    return evidenceOf(this.#scene, requireLease(this.#sql, leaseId));
  }

  async resolve(leaseId: LeaseId, choice: LeaseChoice): Promise<LeaseRow> {
    await this.#reconciled;
    return this.#locked(leaseId, () => resolveLease(this.#scene, leaseId, choice));
  }

  /** Ends what is under way; it goes on at the next start. */
  async close(): Promise<void> {
    this.#stopListening();
    this.#stopping.abort();
    for (const timer of this.#waiting) clearTimeout(timer);
    await Promise.allSettled(this.#running);
  }

  get #sql() {
    return this.#scene.store.sql;
  }

  #track<Outcome>(work: Promise<Outcome>): Promise<Outcome> {
    this.#running.add(work);
    const done = () => this.#running.delete(work);
    work.then(done, done);
    return work;
  }

  #locked<Outcome>(leaseId: LeaseId, work: () => Promise<Outcome>): Promise<Outcome> {
    return this.#track(
      (async () => {
        const release = await this.#scene.locks.acquire([{ key: `lease:${leaseId}` }]);
        try {
          if (this.#stopping.signal.aborted) throw new FailureError('shutting-down');
          return await work();
        } finally {
          release();
        }
      })(),
    );
  }

  async #reconcileAll(): Promise<void> {
    for (const { id } of listLeases(this.#sql, false)) {
      if (this.#stopping.signal.aborted) return;
      await new Promise<void>((goOn) => {
        this.#locked(id, () => reconcileLease(this.#scene, id, goOn))
          .catch((error: unknown) =>
            this.#scene.log.warn(
              { leaseId: id, err: error },
              'a worktree could not be held against what is there',
            ),
          )
          .finally(goOn);
      });
    }
  }

  #tidySoon(leaseId: LeaseId): void {
    if (this.#stopping.signal.aborted) return;
    const lease = findLease(this.#sql, leaseId);
    if (lease === null || !mayGoByItself(lease)) return;
    this.#locked(leaseId, () => this.#tidy(leaseId)).catch((error: unknown) => {
      if (!this.#stopping.signal.aborted) {
        this.#scene.log.info({ leaseId, err: error }, 'a worktree that nobody needs any more stays');
      }
    });
  }

  async #tidy(leaseId: LeaseId): Promise<void> {
    // It waits for what is left of its sessions: a process may be among it.
    if (leftoversOf(this.#sql, leaseId) > 0) {
      await this.#scene.removals.clean();
      if (leftoversOf(this.#sql, leaseId) > 0) {
        this.#tidyLater(leaseId);
        return;
      }
    }
    if (findLease(this.#sql, leaseId) !== null) await cleanUp(this.#scene, leaseId, 'automatic');
  }

  #tidyLater(leaseId: LeaseId): void {
    const timer = setTimeout(() => {
      this.#waiting.delete(timer);
      this.#tidySoon(leaseId);
    }, LEFTOVERS_MS);
    timer.unref();
    this.#waiting.add(timer);
  }

  async #allocateOnce(
    request: Params<'worktree.allocate'>,
    digest: string,
    known: LeaseRow | null,
  ): Promise<LeaseRow> {
    const { idempotencyKey: key } = request;
    if (known !== null) {
      const found = await this.#locked(known.id, async () => {
        const lease = findLease(this.#sql, known.id);
        return lease !== null && canBeHeld(lease.state) ? finishWorktree(this.#scene, lease) : lease;
      });
      // The start may have taken it back meanwhile.
      if (found !== null) return found;
    }
    const { lease, release } = await this.#reserve(request, { origin: 'allocate', key, digest });
    try {
      return await makeWorktree(this.#scene, lease);
    } finally {
      release();
    }
  }

  /** The lock is taken before anybody else can know the lease. */
  async #reserve(
    request: Parameters<typeof reserveLease>[1],
    cause: AllocationCause,
  ): Promise<{ lease: LeaseRow; release: () => void }> {
    const lease = await reserveLease(this.#scene, request, cause);
    const release = await this.#scene.locks.acquire([{ key: `lease:${lease.id}` }]);
    return { lease, release };
  }

  async #spawn(request: Params<'worktree.spawn'>, caller: Caller, entry: LaunchEntry): Promise<SpawnReceipt> {
    await this.#reconciled;
    const { spec, worktree } = request;
    await settleProvider(this.#launches, spec, Deadline.in(spec.deadlineMs));
    const decided = decideLaunch(this.#launches, spec, caller);
    const source = findWorkspace(this.#sql, spec.target.workspaceId);
    if (source === null)
      throw new FailureError('unknown-workspace', { workspaceId: spec.target.workspaceId });
    // What cannot be launched makes no worktree.
    planDecided(this.#launches, decided, source.root, null);
    const cause: AllocationCause = { origin: 'spawn', key: spec.idempotencyKey, digest: entry.digest };
    const { lease, release, isNew } =
      worktree.kind === 'lease'
        ? await this.#take(worktree.leaseId)
        : await this.#takeNew({ ...worktree, name: worktree.name ?? spec.name }, cause);
    try {
      if (lease.source_workspace_id !== spec.target.workspaceId) {
        throw new FailureError('invalid-request', { reason: 'the worktree is of another workspace' });
      }
      const ready =
        lease.head === null
          ? await makeWorktree(this.#scene, lease)
          : await finishWorktree(this.#scene, lease);
      // From the moment on that the session can start: how long a worktree takes is the matter of its set-up.
      const deadline = Deadline.in(spec.deadlineMs);
      const intended = () => this.#freeKey(ready.id, cause.key);
      try {
        const receipt = await startDecided(
          this.#launches,
          decided,
          { workspaceId: workspaceOf(ready), lease: ready, intended },
          { entry, deadline },
        );
        await this.#scene.reached('session-started');
        return receipt;
      } catch (error) {
        if (isNew) await this.#discard(ready.id);
        throw error;
      }
    } finally {
      release();
    }
  }

  /** The ledger knows the key from now on, or the launch is answered. */
  #freeKey(leaseId: LeaseId, key: IdempotencyKey): void {
    this.#sql.run(
      'UPDATE worktree_leases SET idempotency_key = NULL WHERE id = ? AND idempotency_key = ?',
      leaseId,
      key,
    );
  }

  /** One that is there already. */
  async #take(leaseId: LeaseId): Promise<{ lease: LeaseRow; release: () => void; isNew: boolean }> {
    requireLease(this.#sql, leaseId);
    const release = await this.#scene.locks.acquire([{ key: `lease:${leaseId}` }]);
    try {
      const lease = requireLease(this.#sql, leaseId);
      if (lease.state === 'removed') throw new FailureError('unknown-worktree-lease', { leaseId });
      if (!canBeHeld(lease.state)) throw new FailureError('worktree-recovery-required', { leaseId });
      return { lease, release, isNew: false };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** A new one, or the one that a crash left behind for the same request. */
  async #takeNew(
    asked: Parameters<typeof reserveLease>[1],
    cause: AllocationCause,
  ): Promise<{ lease: LeaseRow; release: () => void; isNew: boolean }> {
    const linked = leaseOfKey(this.#sql, cause.key);
    if (linked !== null) {
      if (linked.digest !== cause.digest) {
        throw new FailureError('spawn-idempotency-conflict', { idempotencyKey: cause.key });
      }
      const release = await this.#scene.locks.acquire([{ key: `lease:${linked.id}` }]);
      const now = findLease(this.#sql, linked.id);
      if (now?.idempotency_key === cause.key) {
        if (canBeHeld(now.state) && now.cleaning === 0) return { lease: now, release, isNew: true };
        release();
        throw new FailureError('worktree-recovery-required', { leaseId: now.id });
      }
      // It was taken back meanwhile.
      release();
    }
    return { ...(await this.#reserve(asked, cause)), isNew: true };
  }

  /** Nothing runs in it, as far as anybody knows: it goes, whatever its profile says about worktrees that were used. */
  async #discard(leaseId: LeaseId): Promise<void> {
    const { store, log } = this.#scene;
    if (this.#stopping.signal.aborted) return;
    try {
      await cleanUp(this.#scene, leaseId, 'explicit');
    } catch (error) {
      log.warn({ leaseId, err: error }, 'the worktree of a launch that failed stays');
      // The launch is answered: asked for again, it is another one.
      store.transact((transaction) => {
        const now = findLease(transaction.sql, leaseId);
        if (now !== null) changeLease(transaction, now, { idempotency_key: null });
      });
      if (leftoversOf(this.#sql, leaseId) > 0) this.#tidyLater(leaseId);
    }
  }
}
