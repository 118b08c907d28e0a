// The one way in which a session comes to run: cheap checks, then the intent (one transaction with every row of the launch), then the
// keeper, then the outcome. A launch either keeps its failed session, or leaves nothing: then whatever it had begun is given up in
// one transaction, and what runs of it is ended, now or as soon as its keeper can be asked. The work belongs to the node, not to
// the connection that asked for it.
import { setTimeout as delay } from 'node:timers/promises';
import { FailureError, type Failure, type Session } from '@roost/protocol';
import { OVER } from '../deadline.ts';
import { readHeadCommit } from '../git/head-commit.ts';
import type { GitSource } from '../git/run-git.ts';
import type { KeeperLink } from '../keepers/keeper-link.ts';
import type { KeeperPool } from '../keepers/keeper-pool.ts';
import { FINAL_SCROLLBACK_LINES } from '../sessions/final-screen.ts';
import type { SessionLifecycle } from '../sessions/lifecycle.ts';
import { findSession, sessionView } from '../sessions/session-table.ts';
import type { Store } from '../store/store.ts';
import type { Reservations } from '../worktrees/reservations.ts';
import { forgetLaunch } from './forget-launch.ts';
import { checkLaunch, storeIntent, type Intent, type StartRequest } from './intent.ts';
import { whetherItRuns } from './whether-it-runs.ts';
import { tooLate } from './too-late.ts';

/** Milliseconds for the keeper's answer to a spawn. */
const SPAWN_MS = 10_000;
/** Milliseconds that the refusal of a late launch waits for the end of what ran of it. */
const GIVE_UP_MS = 2_000;

export interface StartScene {
  readonly store: Store;
  readonly keepers: Pick<KeeperPool, 'place'>;
  readonly lifecycle: SessionLifecycle;
  /** Directories in which nothing starts now. */
  readonly reservations: Pick<Reservations, 'requireFree'>;
  readonly source: GitSource;
  /** Called when removed sessions left files. */
  readonly removed: () => void;
}

/**
 * @throws FailureError: sessions-exhausted, name-taken, workspace-busy, worktree-changing, unknown-workspace,
 * records-exhausted: nothing was done.
 * spawn-failed, keeper-unavailable, spawn-deadline-exceeded.
 */
export async function startSession(scene: StartScene, request: StartRequest): Promise<Session> {
  const { store } = scene;
  checkLaunch(store.sql, request);
  // Beside the search for a keeper, which takes longer as a rule.
  const reading = readHeadCommit(scene.source, request.location.gitRoot);
  const link = await place(scene, request);
  try {
    const baseCommit = await reading;
    if (!link.isConnected) throw link.unavailable();
    if (request.deadline.hasPassed()) throw tooLate();
    const intent = store.transact((transaction) => {
      scene.reservations.requireFree(request.location.directory);
      return storeIntent(transaction, request, { keeperId: link.id, baseCommit });
    });
    if (intent.evicted) scene.removed();
    await new Launching(scene, { request, intent, link }).run();
    const row = findSession(store.sql, intent.row.id) ?? intent.row;
    return sessionView(row, link.children.get(row.id) ?? null);
  } finally {
    link.reserved -= 1;
  }
}

async function place({ keepers }: StartScene, { deadline }: StartRequest): Promise<KeeperLink> {
  const placing = keepers.place();
  const link = await deadline.race(placing);
  if (link !== OVER) return link;
  placing.then(
    (late) => (late.reserved -= 1),
    () => undefined,
  );
  throw tooLate();
}

type Answer =
  | { readonly kind: 'runs' }
  | { readonly kind: 'refused'; readonly error: FailureError }
  /** The keeper was lost meanwhile: its next list of children tells. */
  | { readonly kind: 'unknown'; readonly error: FailureError };

class Launching {
  readonly #scene: StartScene;
  readonly #request: StartRequest;
  readonly #intent: Intent;
  readonly #link: KeeperLink;

  constructor(scene: StartScene, launching: { request: StartRequest; intent: Intent; link: KeeperLink }) {
    this.#scene = scene;
    this.#request = launching.request;
    this.#intent = launching.intent;
    this.#link = launching.link;
  }

  async run(): Promise<void> {
    if (this.#request.deadline.hasPassed()) return this.#fail(tooLate());
    const asking = this.#ask();
    const answer = await this.#request.deadline.race(asking);
    if (answer === OVER) return this.#giveUp(asking.then(() => this.#end()));
    switch (answer.kind) {
      case 'runs':
        return this.#request.deadline.hasPassed() ? this.#giveUp(this.#end) : undefined;
      case 'refused':
        return this.#fail(this.#named('spawn-failed', answer.error));
      case 'unknown':
        return this.#afterLoss(answer.error);
    }
  }

  /** Never rejects but for a fault of ours. */
  async #ask(): Promise<Answer> {
    const { lifecycle } = this.#scene;
    const { row, note } = this.#intent;
    const { launch, transport, size } = this.#request;
    let settled: () => void = () => undefined;
    lifecycle.prepare(row.id, launch);
    lifecycle.spawning.set(row.id, new Promise((resolve) => (settled = resolve)));
    try {
      const state = await this.#link.call(
        'spawn',
        {
          sessionId: row.id,
          transport,
          file: launch.file,
          argv: launch.argv,
          directory: row.directory,
          environment: launch.environment,
          size,
          scrollbackLines: FINAL_SCROLLBACK_LINES,
          note,
        },
        SPAWN_MS,
      );
      lifecycle.spawning.delete(row.id);
      lifecycle.started(this.#link, this.#link.learn(state));
      return { kind: 'runs' };
    } catch (error) {
      lifecycle.spawning.delete(row.id);
      if (!(error instanceof FailureError)) throw error;
      if (error.failure.code !== 'keeper-unavailable') return { kind: 'refused', error };
      // A fresh connection begins with the truth about its children.
      this.#link.reconnect();
      return { kind: 'unknown', error };
    } finally {
      settled();
    }
  }

  async #afterLoss(error: FailureError): Promise<void> {
    const { afterFailure, deadline } = this.#request;
    // Whoever keeps the session sees there what became of it.
    if (afterFailure === 'keep') throw this.#named('keeper-unavailable', error);
    const watch = whetherItRuns(this.#scene.store, this.#intent.row.id);
    try {
      const runs = await deadline.race(watch.answer);
      if (runs === OVER || (runs && deadline.hasPassed())) return await this.#giveUp(this.#end);
      if (!runs) this.#fail(this.#named('spawn-failed', error));
    } finally {
      watch.stop();
    }
  }

  /** Nothing runs, as far as its keeper can tell. */
  #fail(error: FailureError): never {
    if (this.#request.afterFailure === 'keep') this.#scene.lifecycle.refused(this.#intent.row.id);
    else this.#forget(error.failure, 'nothing-runs');
    throw error;
  }

  /** It is too late: decided first, then ended. The answer waits for the end, but not for ever. */
  async #giveUp(ending: Promise<void> | (() => Promise<void>)): Promise<never> {
    this.#forget(tooLate().failure, 'may-run');
    const ended = typeof ending === 'function' ? ending() : ending;
    await Promise.race([ended, delay(GIVE_UP_MS, undefined, { ref: false })]);
    throw tooLate();
  }

  readonly #end = async (): Promise<void> => {
    await this.#scene.lifecycle.discards.end(this.#link, this.#intent.row.id);
    this.#scene.removed();
  };

  #forget(failure: Failure, evidence: 'nothing-runs' | 'may-run'): void {
    const { row } = this.#intent;
    const { lifecycle, removed } = this.#scene;
    lifecycle.write((transaction) => {
      this.#request.forgotten?.(transaction, failure, row);
      forgetLaunch(transaction, lifecycle.discards, {
        session: row,
        ownRecord: this.#request.record.kind === 'new',
        evidence,
      });
    });
    removed();
  }

  /** Tells which session it was, where that can be looked at. */
  #named(code: 'spawn-failed' | 'keeper-unavailable', cause: FailureError): FailureError {
    const { details } = cause.failure;
    const session = this.#request.afterFailure === 'keep' ? { sessionId: this.#intent.row.id } : {};
    const keeper = code === 'keeper-unavailable' ? { keeperId: this.#link.id } : details;
    return new FailureError(code, { ...keeper, ...session }, { cause });
  }
}
