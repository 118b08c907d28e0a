// Notices what people and agents change in git workspaces, and tells it when branch, head or counts are different. Only workspaces with
// live sessions are looked at, or all while somebody hears of events; otherwise there is no timer and no watch at all. One look at a
// time, each a few short git processes, at a pace that keeps to a share of the machine.
import {
  FailureError,
  LIVE_STATUSES,
  type NodeEvent,
  type SessionId,
  type WorkspaceId,
} from '@roost/protocol';
import type { Journal } from '../events/journal.ts';
import type { Log } from '@roost/storage';
import type { Store } from '../store/store.ts';
import { ChangeHints } from './change-hints.ts';
import { childrenTime } from './children-time.ts';
import { costOf, FIRST_PACE, LOOK_MS_MAX, paceAfter, pauseAfter, type Pace } from './look-pace.ts';
import { listWorkspaces, noteGit, type GitSummary } from './workspaces.ts';

/** Milliseconds after a hint or an event: what is done is rarely done in one step. */
const SETTLE_MS = 200;

export interface OutsideScene {
  readonly store: Store;
  readonly journal: Pick<Journal, 'isFollowed' | 'onFollowed'>;
  /** null where there is no repository. @throws FailureError when that cannot be told. */
  readonly look: (root: string) => Promise<GitSummary | null>;
  readonly log: Log;
}

interface Watched {
  readonly id: WorkspaceId;
  readonly root: string;
  pace: Pace;
  lookedAt: number;
  dueAt: number;
  hints: ChangeHints | null;
  hintedAt: number;
}

export class OutsideChanges {
  readonly #scene: OutsideScene;
  readonly #watched = new Map<WorkspaceId, Watched>();
  readonly #unsubscribe: () => void;
  #timer: { readonly at: number; readonly handle: NodeJS.Timeout } | null = null;
  #isLooking = false;
  /** No look before this moment. */
  #pausedUntil = 0;
  readonly #liveSessions = new Set<SessionId>();
  /** Which workspaces there are, and which of them have live sessions, may have changed. */
  #stale = true;
  #closed = false;

  constructor(scene: OutsideScene) {
    this.#scene = scene;
    this.#unsubscribe = scene.store.onEvent((event) => this.#hear(event));
    scene.journal.onFollowed(() => {
      for (const one of this.#watched.values()) one.dueAt = Math.min(one.dueAt, performance.now());
      this.#chooseSoon();
    });
    this.#arm(SETTLE_MS);
  }

  /** Nothing is waited for and nothing is watched. */
  get isAtRest(): boolean {
    return this.#timer === null && !this.#isLooking && this.#watched.size === 0;
  }

  close(): void {
    this.#closed = true;
    this.#unsubscribe();
    if (this.#timer !== null) clearTimeout(this.#timer.handle);
    this.#timer = null;
    for (const one of this.#watched.values()) one.hints?.close();
    this.#watched.clear();
  }

  #hear({ body }: NodeEvent): void {
    switch (body.kind) {
      case 'workspace-registered':
      case 'workspace-unregistered':
        this.#chooseSoon();
        return;
      case 'session-changed': {
        // Most of them tell something else.
        const { id, status } = body.session;
        const isLive = LIVE_STATUSES.includes(status);
        if (isLive === this.#liveSessions.has(id)) return;
        if (isLive) this.#liveSessions.add(id);
        else this.#liveSessions.delete(id);
        this.#chooseSoon();
        return;
      }
      case 'session-removed':
      case 'workspace-changed':
      case 'node-started':
      case 'node-stopped':
      case 'record-changed':
      case 'record-removed':
      case 'controller-changed':
      case 'spawn-profiles-changed':
      case 'worktree-profiles-changed':
      case 'worktree-changed':
      case 'worktree-removed':
      case 'interaction-changed':
        return;
    }
  }

  #chooseSoon(): void {
    this.#stale = true;
    this.#arm(SETTLE_MS);
  }

  /** Sees to it that the next turn is no later than that. */
  #arm(inMs: number): void {
    if (this.#closed || this.#isLooking) return;
    const at = performance.now() + inMs;
    if (this.#timer !== null) {
      if (this.#timer.at <= at) return;
      clearTimeout(this.#timer.handle);
    }
    const handle = setTimeout(() => {
      this.#timer = null;
      void this.#turn();
    }, inMs);
    this.#timer = { at, handle: handle.unref() };
  }

  /** One look, when one is due; then the next turn is set. Never throws. */
  async #turn(): Promise<void> {
    this.#choose();
    let next: Watched | undefined;
    for (const one of this.#watched.values()) if (next === undefined || one.dueAt < next.dueAt) next = one;
    if (next === undefined) return;
    const now = performance.now();
    const waitMs = Math.max(next.dueAt, this.#pausedUntil) - now;
    if (waitMs <= 0) await this.#look(next);
    // A follower that left, and workspaces that came, are seen in the next turn.
    this.#arm(Math.max(waitMs, 0));
  }

  /** Brings what is watched up to what is of interest. */
  #choose(): void {
    const { store, journal } = this.#scene;
    if (!this.#stale && journal.isFollowed) return;
    this.#stale = false;
    const chosen = listWorkspaces(store.sql).filter(
      ({ kind, liveSessions }) => kind === 'git' && (liveSessions > 0 || journal.isFollowed),
    );
    const ids = new Set(chosen.map(({ id }) => id));
    for (const [id, one] of this.#watched) {
      if (ids.has(id)) continue;
      one.hints?.close();
      this.#watched.delete(id);
    }
    for (const { id, root } of chosen) {
      const known = this.#watched.get(id);
      if (known?.root === root) continue;
      known?.hints?.close();
      const dueAt = performance.now();
      this.#watched.set(id, {
        id,
        root,
        pace: FIRST_PACE,
        lookedAt: -Infinity,
        dueAt,
        hints: null,
        hintedAt: -Infinity,
      });
    }
  }

  async #look(one: Watched): Promise<void> {
    const { look, journal, store, log } = this.#scene;
    this.#isLooking = true;
    const startedAt = performance.now();
    one.lookedAt = startedAt;
    // Before the look: what happens during it is not missed.
    one.hints ??= new ChangeHints(one.root, () => this.#hint(one));
    const costBefore = childrenTime();
    let foundNews = false;
    try {
      const git = await look(one.root);
      if (this.#isWatched(one)) foundNews = noteGit(store, one.id, git);
    } catch (error) {
      if (!(error instanceof FailureError)) log.warn({ err: error, workspaceId: one.id }, 'a look failed');
      // Nothing is known that was not known before.
      one.pace = { ...one.pace, intervalMs: LOOK_MS_MAX };
    }
    const endedAt = performance.now();
    const costMs = costOf(costBefore, childrenTime(), endedAt - startedAt);
    one.pace = paceAfter(one.pace, { costMs, foundNews, isFollowed: journal.isFollowed });
    const isHinted = one.hintedAt >= startedAt;
    one.dueAt = startedAt + (isHinted ? one.pace.leastMs : one.pace.intervalMs);
    this.#pausedUntil = endedAt + pauseAfter({ costMs });
    this.#isLooking = false;
  }

  #isWatched(one: Watched): boolean {
    return !this.#closed && this.#watched.get(one.id) === one;
  }

  #hint(one: Watched): void {
    one.hints = null;
    one.hintedAt = performance.now();
    if (!this.#isWatched(one)) return;
    const now = one.hintedAt;
    one.dueAt = Math.min(one.dueAt, Math.max(now + SETTLE_MS, one.lookedAt + one.pace.leastMs));
    this.#arm(Math.max(0, one.dueAt - now));
  }
}
