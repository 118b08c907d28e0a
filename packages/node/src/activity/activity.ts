// What each agent that runs is doing: gathers what sources say, and stores what that amounts to whenever it changes.
import type { Activity, AgentEvent, Session, SessionId } from '@roost/protocol';
import { findProvider, type ScreenVerdict } from '@roost/providers';
import type { InteractionRow } from '../conversations/interaction-table.ts';
import type { KeeperPool } from '../keepers/keeper-pool.ts';
import type { KeeperLink } from '../keepers/keeper-link.ts';
import type { Log } from '@roost/storage';
import {
  changeSession,
  findSession,
  isLive,
  storedView,
  type SessionRow,
} from '../sessions/session-table.ts';
import type { SessionLifecycle } from '../sessions/lifecycle.ts';
import type { Store } from '../store/store.ts';
import {
  acknowledge,
  interruptSent,
  isTurnShown,
  look,
  newFacts,
  restoredFacts,
  settle,
  settlesIn,
  tell,
  type ActivityFacts,
  type Signal,
} from './activity-state.ts';
import { signalOfEvent } from './event-signal.ts';
import { ScreenLooks } from './screen-looks.ts';

interface ActivitiesOptions {
  readonly store: Store;
  readonly keepers: Pick<KeeperPool, 'get'>;
  readonly lifecycle: Pick<SessionLifecycle, 'write'>;
  readonly log: Log;
  /** Milliseconds of a clock that nobody sets; `performance.now` unless a test says otherwise. */
  readonly now?: () => number;
}

export class Activities {
  readonly #options: ActivitiesOptions;
  readonly #now: () => number;
  readonly #facts = new Map<SessionId, ActivityFacts>();
  readonly #timers = new Map<SessionId, NodeJS.Timeout>();
  readonly #looks: ScreenLooks;
  readonly #stopListening: () => void;

  constructor(options: ActivitiesOptions) {
    const { store, keepers, log } = options;
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#looks = new ScreenLooks({
      link: (sessionId) => keepers.get(findSession(store.sql, sessionId)?.keeper_id ?? null),
      seen: (sessionId, verdict) => this.#seen(sessionId, verdict),
      log,
    });
    this.#stopListening = store.onEvent(({ body }) => {
      if (body.kind === 'session-removed') this.#forget(body.sessionId);
      if (body.kind !== 'session-changed') return;
      if (body.session.status === 'running') this.#begin(body.session);
      else if (!isLive(body.session)) this.#forget(body.session.id);
    });
  }

  /** A keeper can be asked (again). */
  connected(link: KeeperLink): void {
    for (const sessionId of link.children.keys()) {
      const row = findSession(this.#options.store.sql, sessionId);
      if (row?.status === 'running') this.#begin(storedView(row));
    }
  }

  /** The agent itself says something. Of a session that does not run it is ignored. */
  heard(sessionId: SessionId, source: 'stream' | 'hooks', event: AgentEvent): void {
    const signal = signalOfEvent(event);
    if (signal !== null) this.#change(sessionId, (facts, now) => tell(facts, source, signal, now));
  }

  /** It takes its first prompt: its stream says so. */
  ready(sessionId: SessionId): void {
    this.#change(sessionId, (facts, now) => tell(facts, 'stream', { kind: 'composer' }, now));
  }

  /** As its stream left it, whatever was shown since: it asks for that, it works, or it rests. */
  restored(sessionId: SessionId, as: 'working' | 'resting' | Pick<InteractionRow, 'kind' | 'tool'>): void {
    const signal: Signal =
      as === 'working'
        ? { kind: 'working' }
        : as === 'resting'
          ? { kind: 'finished', interrupted: false }
          : { kind: 'blocked', reason: as.kind, authority: null, detail: as.tool };
    this.#change(sessionId, (facts, now) =>
      as === 'resting' && !isTurnShown(facts) ? facts : tell(facts, 'stream', signal, now),
    );
  }

  /** A person ends the turn through us. */
  interruptSent(sessionId: SessionId): void {
    this.#change(sessionId, interruptSent);
  }

  /** Somebody has looked at the session. */
  acknowledge(sessionId: SessionId): void {
    this.#change(sessionId, acknowledge);
  }

  close(): void {
    this.#stopListening();
    this.#looks.close();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  /** What has begun goes on. */
  #begin({ id, provider, transport, protocol = null, activity = null }: Session): void {
    const rules = transport === 'pty' ? (findProvider(provider)?.screen ?? []) : [];
    if (protocol === null && rules.length === 0) return;
    if (!this.#facts.has(id)) {
      const facts = activity === null ? newFacts(this.#now()) : restoredFacts(activity);
      this.#facts.set(id, facts);
      if (activity === null) this.#store(id, facts);
    }
    if (rules.length > 0) this.#looks.begin(id, rules);
  }

  #seen(sessionId: SessionId, verdict: ScreenVerdict | null): void {
    const seen = verdict === null ? null : { source: verdict.source, signal: signalOf(verdict) };
    this.#change(sessionId, (facts, now) => look(facts, seen, now));
  }

  #change(sessionId: SessionId, step: (facts: ActivityFacts, now: number) => ActivityFacts): void {
    const before = this.#facts.get(sessionId);
    if (before === undefined) return;
    // One reading of the clock for both: what is not due for the one is what the other waits for.
    const now = this.#now();
    const after = step(before, now);
    this.#facts.set(sessionId, after);
    if (after.shown !== before.shown) this.#store(sessionId, after);
    this.#settleLater(sessionId, settlesIn(after, now));
  }

  #settleLater(sessionId: SessionId, waitMs: number | null): void {
    clearTimeout(this.#timers.get(sessionId));
    if (waitMs === null) {
      this.#timers.delete(sessionId);
      return;
    }
    const timer = setTimeout(() => this.#change(sessionId, settle), waitMs);
    this.#timers.set(sessionId, timer.unref());
  }

  /** As it is shown from now on. */
  #store(sessionId: SessionId, { shown }: ActivityFacts): void {
    const activity: Activity = { ...shown, since: new Date().toISOString() };
    this.#options.lifecycle.write((transaction) => {
      const row: SessionRow | null = findSession(transaction.sql, sessionId);
      if (row === null || !isLive(row)) return;
      changeSession(transaction, row, { activity: JSON.stringify(activity) });
    });
  }

  #forget(sessionId: SessionId): void {
    this.#facts.delete(sessionId);
    clearTimeout(this.#timers.get(sessionId));
    this.#timers.delete(sessionId);
  }
}

function signalOf({ state, reason }: ScreenVerdict): Signal {
  return state === 'blocked'
    ? { kind: 'blocked', reason: reason ?? 'other', authority: null, detail: null }
    : { kind: state };
}
