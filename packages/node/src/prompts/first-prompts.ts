// First prompts of agents in terminals. Each waits in the database, for as long as it takes: until the agent's composer is seen, and
// nothing stands in it. Then it is taken out of there, and typed. A node that dies between the two does not type it, and no other one
// will: an agent that is told twice may do twice what can be done once.
import { setTimeout as delay } from 'node:timers/promises';
import { FailureError, SessionId } from '@roost/protocol';
import { findProvider, isReadable, type ReadableProvider } from '@roost/providers';
import { parseActivity } from '../activity/stored-activity.ts';
import type { FaultHook } from '../fault-points.ts';
import type { KeeperLink } from '../keepers/keeper-link.ts';
import type { KeeperPool } from '../keepers/keeper-pool.ts';
import { nextFrame } from '../keepers/next-frame.ts';
import type { Log } from '@roost/storage';
import { findSession, type SessionRow } from '../sessions/session-table.ts';
import type { Store } from '../store/store.ts';
import type { Prompts } from './prompts.ts';
import { refusedByActivity, refusedByScreen } from './readiness.ts';
import { deletePrompt, waitingPrompts, type WaitingPrompt } from './waiting-prompts.ts';

/** Milliseconds between two looks at a screen that changes all the time, and between two attempts on one that does not. */
const LOOK_AGAIN_MS = 250;

interface FirstPromptsOptions {
  readonly store: Store;
  readonly keepers: Pick<KeeperPool, 'get'>;
  readonly prompts: Pick<Prompts, 'giveFirst'>;
  readonly faults: FaultHook;
  readonly log: Log;
}

interface Waiting {
  readonly row: SessionRow;
  readonly provider: ReadableProvider;
  readonly prompt: WaitingPrompt;
}

export class FirstPrompts {
  readonly #options: FirstPromptsOptions;
  readonly #watched = new Set<SessionId>();
  readonly #stopListening: () => void;
  #isClosed = false;

  constructor(options: FirstPromptsOptions) {
    this.#options = options;
    this.#stopListening = options.store.onEvent(({ body }) => {
      if (body.kind === 'session-changed') this.#begin(body.session.id);
    });
  }

  /** A keeper can be asked (again). */
  connected(link: KeeperLink): void {
    for (const child of link.children.values()) {
      const id = SessionId.safeParse(child.sessionId);
      if (id.success) this.#begin(id.data);
    }
  }

  /** What waits is given by the next node. */
  close(): void {
    this.#isClosed = true;
    this.#stopListening();
  }

  #begin(sessionId: SessionId): void {
    if (this.#isClosed || this.#watched.has(sessionId) || this.#waiting(sessionId) === null) return;
    this.#watched.add(sessionId);
    this.#giveOnceFree(sessionId).catch((error: unknown) =>
      this.#options.log.error({ sessionId, err: error }, 'a first prompt cannot be given'),
    );
  }

  /** Ends when it was given, and when news of the session or of its keeper have to come first: those begin it again. */
  async #giveOnceFree(sessionId: SessionId): Promise<void> {
    try {
      for (let after = -1; !this.#isClosed;) {
        const link = this.#linkOf(sessionId);
        const frame = await nextFrame(link, sessionId, after);
        const waiting = this.#waiting(sessionId);
        if (link === null || frame === null || frame.ended || waiting === null) return;
        const isFree = refusedByScreen(sessionId, waiting.provider, frame) === null;
        if (isFree && (await this.#give(waiting, link))) return;
        // A screen that refuses it does so until it changes.
        after = isFree ? -1 : frame.revision;
        await delay(LOOK_AGAIN_MS, undefined, { ref: false });
      }
    } finally {
      this.#watched.delete(sessionId);
    }
  }

  /** null: nothing waits, or not for its screen. */
  #waiting(sessionId: SessionId): Waiting | null {
    if (this.#isClosed) return null;
    const { sql } = this.#options.store;
    const [prompt] = waitingPrompts(sql, sessionId);
    const row = prompt === undefined ? null : findSession(sql, sessionId);
    if (prompt === undefined || row?.status !== 'running' || row.protocol !== null) return null;
    if (refusedByActivity(sessionId, parseActivity(row.activity)) !== null) return null;
    const provider = findProvider(row.provider);
    return isReadable(provider) ? { row, provider, prompt } : null;
  }

  #linkOf(sessionId: SessionId): KeeperLink | null {
    const { store, keepers } = this.#options;
    return keepers.get(findSession(store.sql, sessionId)?.keeper_id ?? null);
  }

  /** Whether it is out of our hands. */
  async #give({ row, provider, prompt }: Waiting, link: KeeperLink): Promise<boolean> {
    const { prompts, faults, log } = this.#options;
    const sessionId = row.id;
    const state = { isTaken: false };
    const take = async () => {
      await faults('first-prompt:free');
      this.#take(sessionId, prompt);
      state.isTaken = true;
      await faults('first-prompt:taken');
    };
    try {
      await prompts.giveFirst({ row, provider, link, take }, prompt.text);
      log.info({ sessionId }, 'a first prompt was given');
    } catch (error) {
      if (!(error instanceof FailureError)) throw error;
      if (state.isTaken) log.warn({ sessionId, err: error }, 'a first prompt may not have arrived');
    }
    return state.isTaken;
  }

  /** @throws FailureError: agent-not-ready when it is not to be given any more, or not now; storage-full, storage-failed. */
  #take(sessionId: SessionId, { id }: WaitingPrompt): void {
    if (this.#waiting(sessionId)?.prompt.id !== id)
      throw new FailureError('agent-not-ready', { sessionId, reason: 'unknown' });
    this.#options.store.transact(({ sql }) => deletePrompt(sql, id));
  }
}
