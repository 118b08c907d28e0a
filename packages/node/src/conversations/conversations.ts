// All agents of this node that are spoken with: each is hosted from the moment its process runs until its end is stored, and again after
// a restart of the node. What they tell about what they do, and who they are, goes on from here.
import { join } from 'node:path';
import {
  FailureError,
  TIMELINE_PAGE_BYTES_MAX,
  type AgentEvent,
  type Session,
  type SessionId,
} from '@roost/protocol';
import type { ChildExit, ChildState } from '@roost/keeper/wire';
import type { Activities } from '../activity/activity.ts';
import type { KeeperLink } from '../keepers/keeper-link.ts';
import type { KeeperPool } from '../keepers/keeper-pool.ts';
import type { Log } from '@roost/storage';
import { deletePrompts } from '../prompts/waiting-prompts.ts';
import { takeToldIdentity } from '../records/told-identity.ts';
import type { PipeOutput } from '../sessions/pipe-output.ts';
import { findSession, isLive, type SessionRow } from '../sessions/session-table.ts';
import type { Store } from '../store/store.ts';
import { findRecord } from '../records/record-table.ts';
import { findConversation, unsettledConversations, type ConversationRow } from './conversation-table.ts';
import { Conversation, type ToldEvent } from './conversation.ts';
import { withdrawAll } from './interaction-table.ts';
import { Timeline, type TimelinePage } from './timeline.ts';

/** Milliseconds until the timeline of a session that is not hosted now is looked at again. */
const LOOK_AGAIN_MS = 250;

/** Events that say what an agent is doing though no turn is open. */
const COUNTS_ALWAYS: ReadonlySet<AgentEvent['kind']> = new Set([
  'turn-finished',
  'quota',
  'blocked',
  'session-ended',
]);

interface ConversationsOptions {
  readonly store: Store;
  readonly keepers: Pick<KeeperPool, 'get'>;
  readonly output: PipeOutput;
  /** Directory of the sessions' own directories. */
  readonly sessionsDirectory: string;
  readonly activities: Pick<Activities, 'heard' | 'ready' | 'restored'>;
  readonly log: Log;
}

interface Hosted {
  /** A limit of the account has ended the turn. */
  isLimited: boolean;
  readonly conversation: Conversation;
  readonly timeline: Timeline;
}

export class Conversations {
  readonly #options: ConversationsOptions;
  readonly #hosted = new Map<SessionId, Hosted>();
  readonly #stopListening: () => void;

  constructor(options: ConversationsOptions) {
    const { store } = options;
    this.#options = options;
    this.#stopListening = store.onEvent(({ body }) => {
      if (body.kind === 'session-removed') this.#leave(body.sessionId);
      if (body.kind !== 'session-changed') return;
      const { session } = body;
      if (session.status === 'running') this.#begin(session);
      else if (!isLive(session)) this.#settle(session.id);
    });
  }

  /** A keeper can be asked (again). */
  connected(link: KeeperLink): void {
    for (const child of link.children.values()) {
      const row = findSession(this.#options.store.sql, child.sessionId);
      if (row === null || !isSpoken(row) || !isLive(row)) continue;
      this.#begin(row);
      this.#hosted.get(row.id)?.conversation.connected(child);
    }
  }

  /** At start, after all keepers were dialled: what sessions asked that ended without anybody to hear it. */
  settleEnded(): void {
    for (const sessionId of unsettledConversations(this.#options.store.sql)) {
      const row = findSession(this.#options.store.sql, sessionId);
      if (row !== null && !isLive(row)) this.#settle(sessionId);
    }
  }

  /** The process of a session has ended, and its output is kept. Resolves when everything that follows from that is stored. */
  async ended({ sessionId, exit }: ChildState): Promise<void> {
    const row = findSession(this.#options.store.sql, sessionId);
    if (row === null || !isSpoken(row)) return;
    // It may have ended before it was known to run.
    this.#begin(row);
    await this.#end(row.id, exit === null ? null : faultOf(exit, row));
  }

  /** null: it is not spoken with, now. */
  get(sessionId: SessionId): Conversation | null {
    return this.#hosted.get(sessionId)?.conversation ?? null;
  }

  /** @throws FailureError: keeper-unavailable, session-not-running, unsupported-transport. */
  require(row: SessionRow): Conversation {
    const { id: sessionId } = row;
    if (!isSpoken(row)) throw new FailureError('unsupported-transport', { sessionId });
    if (!isLive(row)) throw new FailureError('session-not-running', { sessionId, status: row.status });
    const conversation = this.get(sessionId);
    if (conversation === null) throw new FailureError('keeper-unavailable', { sessionId });
    return conversation;
  }

  /** Of a session that is or was spoken with; waits for more while it lives. */
  async readTimeline(
    row: SessionRow,
    { from, maxBytes, waitMs }: { from: number; maxBytes: number; waitMs: number },
    signal: AbortSignal,
  ): Promise<TimelinePage & { ended: boolean }> {
    const { store } = this.#options;
    const deadline = performance.now() + waitMs;
    for (;;) {
      const hosted = this.#hosted.get(row.id);
      const now = findSession(store.sql, row.id);
      const mayGrow = hosted !== undefined || (now !== null && isLive(now));
      const timeline = hosted?.timeline ?? this.#timelineOf(row.id);
      const page = timeline.read(from, maxBytes);
      const left = deadline - performance.now();
      if (page.entries.length > 0 || !mayGrow || left <= 0 || signal.aborted)
        return { ...page, ended: !mayGrow && page.entries.length === 0 };
      // One that is not hosted now is looked at again soon.
      await timeline.waitForMore(hosted === undefined ? Math.min(left, LOOK_AGAIN_MS) : left, signal);
    }
  }

  close(): void {
    this.#stopListening();
    for (const { conversation } of this.#hosted.values()) conversation.close();
    this.#hosted.clear();
  }

  #begin({ id }: Pick<Session, 'id'>): void {
    const { store, keepers, output, activities, log } = this.#options;
    if (this.#hosted.has(id)) return;
    const row = findConversation(store.sql, id);
    const session = findSession(store.sql, id);
    if (row === null || session === null) return;
    const timeline = this.#timelineOf(id);
    try {
      const conversation = new Conversation(row, {
        store,
        output,
        timeline,
        link: () => keepers.get(findSession(store.sql, id)?.keeper_id ?? null),
        directory: session.directory,
        told: (events, now) => this.#told(id, events, now),
        ready: () => activities.ready(id),
        log,
        now: Date.now,
      });
      this.#hosted.set(id, { conversation, timeline, isLimited: false });
      conversation.begin();
      this.#restate(session, row, conversation, timeline);
    } catch (error) {
      log.error({ sessionId: id, err: error }, 'an agent cannot be spoken with');
    }
  }

  /** A node that was killed may have stored what came about, and not told of it. */
  #restate(
    { id, record_id: recordId }: SessionRow,
    { state }: ConversationRow,
    { asked: [first], isTurnOpen }: Conversation,
    timeline: Timeline,
  ): void {
    if (state === null) return;
    const { activities, store } = this.#options;
    activities.restored(id, first ?? (isTurnOpen ? 'working' : 'resting'));
    const record = recordId === null ? null : findRecord(store.sql, recordId);
    if (record !== null && record.provider_session_id !== null) return;
    for (const { event } of timeline.read(0, TIMELINE_PAGE_BYTES_MAX).entries) {
      if ((event.kind === 'session-started' || event.kind === 'identity') && event.providerSessionId !== null)
        takeToldIdentity(this.#options, id, event.providerSessionId);
    }
  }

  /** What is open of a session that lives no more: by its driver, or by hand where that cannot be had. */
  #settle(sessionId: SessionId): void {
    const { store, log } = this.#options;
    if (!unsettledConversations(store.sql).includes(sessionId)) return;
    this.#begin({ id: sessionId });
    const session = findSession(store.sql, sessionId);
    if (!this.#hosted.has(sessionId) && session !== null) {
      store.transact((transaction) => {
        withdrawAll(transaction, session);
        deletePrompts(transaction.sql, sessionId);
      });
      return;
    }
    this.#end(sessionId, 'the keeper of the agent died').catch((error: unknown) => {
      log.warn({ sessionId, err: error }, 'the end of a conversation could not be stored');
    });
  }

  #timelineOf(sessionId: SessionId): Timeline {
    return new Timeline(join(this.#options.sessionsDirectory, sessionId));
  }

  async #end(sessionId: SessionId, fault: string | null): Promise<void> {
    const hosted = this.#hosted.get(sessionId);
    if (hosted === undefined) return;
    await hosted.conversation.finish(fault);
    this.#hosted.delete(sessionId);
  }

  #leave(sessionId: SessionId): void {
    this.#hosted.get(sessionId)?.conversation.close();
    this.#hosted.delete(sessionId);
  }

  #told(
    sessionId: SessionId,
    events: readonly ToldEvent[],
    { isAsking, hasEnded }: { readonly isAsking: boolean; readonly hasEnded: boolean },
  ): void {
    const { activities } = this.#options;
    const hosted = this.#hosted.get(sessionId);
    if (hosted === undefined) return;
    const settled = new Set(
      events.flatMap(({ event }) => (event.kind === 'interaction-settled' ? [event.requestId] : [])),
    );
    const isRefused = events.some(({ event }) => event.kind === 'blocked');
    for (const { event, isTurnOpen } of events) {
      const { kind } = event;
      if ((kind === 'session-started' || kind === 'identity') && event.providerSessionId !== null)
        takeToldIdentity(this.#options, sessionId, event.providerSessionId);
      // The end of the process says all.
      if (hasEnded) continue;
      // Why it is over was told more exactly.
      if (kind === 'session-ended' && isRefused) continue;
      // The limit that ended the turn is what waits for somebody, not its end.
      if (kind === 'quota' && event.isFinal) hosted.isLimited = true;
      if (kind === 'turn-started') hosted.isLimited = false;
      if (kind === 'turn-finished' && hosted.isLimited) continue;
      // What a rule answered at once, nobody has to hear of.
      if (kind === 'interaction-requested' && settled.has(event.requestId)) continue;
      // While it waits for an answer, other tools of the turn go on: it waits nevertheless.
      if (isAsking ? kind !== 'interaction-requested' : !isTurnOpen && !COUNTS_ALWAYS.has(kind)) continue;
      activities.heard(sessionId, 'stream', event);
    }
  }
}

const isSpoken = ({ protocol }: SessionRow): boolean => protocol !== null;

function faultOf({ exitCode, exitSignal }: ChildExit, row: SessionRow): string | null {
  if (row.stop_requested === 1) return 'the session was stopped';
  if (exitSignal !== null) return `the agent was ended by ${exitSignal}`;
  return exitCode === 0 ? null : `the agent ended with exit code ${exitCode ?? 'unknown'}`;
}
