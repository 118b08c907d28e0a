// Brings what was begun with a worktree to its end: after a failure, and at the start of the node for what a crash cut off. Acts on
// what is there and on nothing else; what evidence cannot decide is kept, and shown to whoever asks for the worktrees.
import { endProcesses, processStart, readProcessTable } from '@roost/keeper/processes';
import { FailureError, type FailureCode } from '@roost/protocol';
import type { KeyedLocks } from '../control/keyed-locks.ts';
import { Deadline } from '../deadline.ts';
import type { FaultHook } from '../fault-points.ts';
import { CHANGE_MS } from '../git/git-calls.ts';
import type { Log } from '@roost/storage';
import type { Store } from '../store/store.ts';
import { locate } from '../workspaces/locate.ts';
import { findWorkspaceAt, registerWorkspace } from '../workspaces/workspaces.ts';
import type { GitWorktrees, WorktreeEntry } from './git-worktrees.ts';
import { deleteIntent, findIntentAt, listIntents, noteProblem, type IntentRow } from './intent-table.ts';
import { forgetWorkspaceAt } from './manual-worktrees.ts';
import { planSettlement, type Settlement } from './plan-settlement.ts';
import type { Reservations } from './reservations.ts';
import { presence } from './worktree-target.ts';
import { repositoryLock } from './repository-lock.ts';

interface SettlingScene {
  readonly store: Store;
  readonly worktrees: GitWorktrees;
  readonly reservations: Reservations;
  readonly repositories: KeyedLocks;
  readonly faults: FaultHook;
  readonly log: Log;
  /** Milliseconds that a git goes on which an earlier start left at work: a hook that hangs would hold its repository for ever. */
  readonly leftGitMs?: number;
}

/** Milliseconds for the questions and small repairs of one of them. */
const SETTLE_MS = 60_000;
/** Milliseconds between looks at a git that still runs. */
const WAIT_MS = 250;
/** Milliseconds that a git of which the time is over has to undo what it made halfway. */
const GIT_GRACE_MS = 5_000;

/** What speaks against taking a whole worktree away again. */
const STAYS: ReadonlySet<FailureCode> = new Set(['worktree-dirty', 'worktree-locked', 'worktree-protected']);

export class Settling {
  readonly #scene: SettlingScene;
  readonly #closing = new AbortController();
  #work: Promise<void> = Promise.resolve();

  constructor(scene: SettlingScene) {
    this.#scene = scene;
  }

  /**
   * Begins with everything that an earlier start left; call it before anybody can ask. Each is held until it is settled, so that
   * nothing else happens there. What is settled resolves when all are.
   */
  begin(): Promise<void> {
    const all = listIntents(this.#scene.store.sql).map(async (intent) => {
      try {
        await this.#afterCrash(intent);
      } catch (error) {
        // Such as one in the place of another: it is looked at when somebody asks for that place.
        this.#scene.log.error({ err: error }, 'a worktree could not be settled');
      }
    });
    this.#work = Promise.all(all).then(() => undefined);
    return this.#work;
  }

  /** Ends the waiting. What was not settled is at the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#work;
  }

  /**
   * `undo`: whoever asked was told that it failed, so what is whole and clean goes again. `finish`: nobody was told anything, so
   * what is whole stays. Never throws: what it cannot do is left for the next start.
   */
  async settle(begun: IntentRow, wish: 'undo' | 'finish'): Promise<void> {
    const { store, log } = this.#scene;
    const intent = findIntentAt(store.sql, begun.target_root) ?? begun;
    try {
      if (wish === 'undo' && intent.pid === null) {
        // Refused before git was started: what is there is none of ours, and as it was.
        deleteIntent(store.sql, intent.id);
        return;
      }
      // A second look follows what removes a mere entry.
      for (let look = 0; look < 2; look += 1) {
        const { plan, entry } = await this.#look(intent);
        if (this.#closing.signal.aborted) return;
        if (await this.#apply(intent, plan, entry, wish)) return;
      }
      noteProblem(store.sql, intent.id, 'unknown');
    } catch (error) {
      log.warn({ err: error, worktree: intent.target_root }, 'what was begun with a worktree is not settled');
      this.#noteUnknown(intent);
    }
  }

  async #afterCrash(intent: IntentRow): Promise<void> {
    const { reservations, repositories } = this.#scene;
    const give = reservations.take(intent.target_root);
    const release = await repositories.acquire([repositoryLock(intent.common_directory)]);
    try {
      await this.#gitEnds(intent);
      if (this.#closing.signal.aborted) return;
      await this.settle(intent, 'finish');
    } finally {
      release();
      give();
    }
  }

  /** In its own time, else in ours, with everything that it started. */
  async #gitEnds(intent: IntentRow): Promise<void> {
    const { log, leftGitMs = CHANGE_MS } = this.#scene;
    const { signal } = this.#closing;
    const deadline = Deadline.in(leftGitMs);
    while (isRunning(intent) && !signal.aborted && !deadline.hasPassed()) await pause(signal);
    const { pid } = intent;
    if (pid === null || !isRunning(intent) || signal.aborted) return;
    log.warn({ worktree: intent.target_root, pid }, 'a git that an earlier start left at work is ended');
    // It leads a group of its own.
    const find = () => [...readProcessTable().values()].filter(({ groupId }) => groupId === pid);
    await endProcesses({ find, graceMs: GIT_GRACE_MS, politeSignals: ['SIGTERM'] });
  }

  async #look(intent: IntentRow): Promise<{ plan: Settlement; entry: WorktreeEntry | null }> {
    const { worktrees } = this.#scene;
    const deadline = Deadline.in(SETTLE_MS);
    const root = intent.source_root;
    const all = await worktrees.list(root, deadline);
    const entry = all.find(({ path }) => path === intent.target_root) ?? null;
    const isProven = entry !== null && (await worktrees.isProven(root, entry.path, deadline));
    const plan = planSettlement(intent, {
      gitRuns: isRunning(intent),
      entry,
      presence: await presence(intent.target_root),
      isProven,
    });
    return { plan, entry };
  }

  /** true when that was the end of it. */
  async #apply(
    intent: IntentRow,
    plan: Settlement,
    entry: WorktreeEntry | null,
    wish: 'undo' | 'finish',
  ): Promise<boolean> {
    const { store, worktrees, log } = this.#scene;
    const deadline = Deadline.in(SETTLE_MS);
    log.info({ worktree: intent.target_root, act: intent.act, plan }, 'settling a worktree');
    switch (plan.kind) {
      case 'drop':
        deleteIntent(store.sql, intent.id);
        return true;
      case 'unregister':
        store.transact((transaction) => {
          deleteIntent(transaction.sql, intent.id);
          forgetWorkspaceAt(transaction, intent.target_root);
        });
        return true;
      case 'forget-entry':
        if (entry !== null) {
          await worktrees.keepCommits(intent.source_root, entry, deadline);
          await worktrees.forget(intent.source_root, entry.path, deadline);
        }
        return false;
      case 'register':
        if (wish === 'undo') await this.#takeAway(intent, deadline);
        else await this.#register(intent);
        return true;
      case 'restore':
        if (entry !== null) await worktrees.restore(intent.source_root, entry, deadline);
        deleteIntent(store.sql, intent.id);
        return true;
      case 'keep':
        noteProblem(store.sql, intent.id, plan.why);
        return true;
    }
  }

  async #takeAway(intent: IntentRow, deadline: Deadline): Promise<void> {
    const { store, worktrees } = this.#scene;
    try {
      await worktrees.remove(intent.source_root, intent.target_root, deadline);
      deleteIntent(store.sql, intent.id);
    } catch (error) {
      // A hook may have written into it, or locked it.
      if (!(error instanceof FailureError) || !STAYS.has(error.failure.code)) throw error;
      noteProblem(store.sql, intent.id, 'incomplete');
    }
  }

  async #register(intent: IntentRow): Promise<void> {
    const { store } = this.#scene;
    const location = await locate(intent.target_root);
    if (location?.directory !== intent.target_root) throw new Error('the worktree cannot be entered');
    store.transact((transaction) => {
      deleteIntent(transaction.sql, intent.id);
      const isThere = findWorkspaceAt(transaction.sql, intent.target_root) !== null;
      if (!isThere) registerWorkspace(transaction, location, intent.workspace_id ?? undefined);
    });
  }

  #noteUnknown(intent: IntentRow): void {
    try {
      noteProblem(this.#scene.store.sql, intent.id, 'unknown');
    } catch (error) {
      this.#scene.log.warn({ err: error }, 'that could not be stored either');
    }
  }
}

function isRunning({ pid, process_start: start }: IntentRow): boolean {
  return pid !== null && start !== null && processStart(pid) === start;
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, WAIT_MS);
    signal.addEventListener('abort', done);
  });
}
