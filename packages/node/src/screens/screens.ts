// Screens of terminal sessions for whoever watches them. For each session that somebody watches there is one question at its keeper:
// the next newer screen. The answer goes to all who watch, each keeps the newest that it has not taken, and the next question
// waits a moment. So a flood, a slow watcher or a thousand changes cost one screen at a time, and what nobody watches costs nothing.
import type { ScreenFrame, Session, SessionAddress, SessionId } from '@roost/protocol';
import type { ChildState, ScreenFrame as KeeperFrame } from '@roost/keeper/wire';
import type { ScreenSource } from '../control/handlers.ts';
import type { KeeperLink } from '../keepers/keeper-link.ts';
import type { KeeperPool } from '../keepers/keeper-pool.ts';
import { nextFrame } from '../keepers/next-frame.ts';
import type { Log } from '@roost/storage';
import { findSession, isLive, listSessions, type SessionRow } from '../sessions/session-table.ts';
import type { Store } from '../store/store.ts';

/** Milliseconds between two screens of one session: what an eye can follow. */
const FRAME_MS = 33;

export interface ScreensOptions {
  readonly store: Store;
  readonly keepers: Pick<KeeperPool, 'get'>;
  readonly log: Log;
}

export interface ScreenFilter {
  /** Whether the watcher may see this session. */
  readonly mayWatch: (row: SessionRow) => boolean;
  readonly sessions: 'all' | readonly SessionId[];
}

interface Shown {
  readonly session: SessionAddress;
  readonly frame: ScreenFrame;
}

/** The questions about one session, one after the other. */
interface Asking {
  /** Something has changed that a question under way may not have seen: ask anew without a pause. */
  again: boolean;
  /** Ends the pause before the next question. */
  hurry: () => void;
}

export class Screens {
  readonly #options: ScreensOptions;
  readonly #watchers = new Set<Watcher>();
  /** Sessions whose keeper has been asked for the next screen. */
  readonly #asking = new Map<string, Asking>();
  /** The newest screen of each session that is asked for, or was while it lives and somebody watches. */
  readonly #latest = new Map<string, Shown>();
  readonly #stopListening: () => void;
  #closed = false;

  constructor(options: ScreensOptions) {
    this.#options = options;
    this.#stopListening = options.store.onEvent(({ body }) => {
      if (this.#watchers.size === 0) return;
      if (body.kind === 'session-changed') this.#sessionChanged(body.session);
      if (body.kind === 'session-removed') this.#latest.delete(body.sessionId);
    });
  }

  open(filter: ScreenFilter): ScreenSource {
    const watcher = new Watcher(filter, () => this.#left(watcher));
    this.#watchers.add(watcher);
    for (const row of this.#rowsFor(filter)) {
      const latest = this.#latest.get(row.id);
      if (latest !== undefined) watcher.offer(latest);
      this.#ask(row.id);
    }
    return watcher;
  }

  /** A keeper can be asked (again). */
  connected(link: KeeperLink): void {
    for (const sessionId of link.children.keys()) this.#ask(sessionId);
  }

  /** Told as soon as the keeper tells it: once the end of a session is stored, its last screen cannot be had any more. */
  changed(child: ChildState): void {
    if (child.exit === null || this.#watchers.size === 0) return;
    this.#asking.get(child.sessionId)?.hurry();
    this.#ask(child.sessionId);
  }

  close(): void {
    this.#closed = true;
    this.#stopListening();
    this.#watchers.clear();
  }

  #rowsFor({ sessions }: ScreenFilter): SessionRow[] {
    const { sql } = this.#options.store;
    if (sessions === 'all') return listSessions(sql, false, -1);
    return sessions.map((id) => findSession(sql, id)).filter((row) => row !== null);
  }

  #sessionChanged(session: Session): void {
    if (session.status === 'running') this.#ask(session.id);
    else if (!isLive(session) && !this.#asking.has(session.id)) this.#latest.delete(session.id);
  }

  #left(watcher: Watcher): void {
    this.#watchers.delete(watcher);
    if (this.#watchers.size > 0) return;
    // A question that is open means that its latest screen still is the newest: who watches next begins with it.
    for (const id of [...this.#latest.keys()]) if (!this.#asking.has(id)) this.#latest.delete(id);
  }

  #watchersOf(row: SessionRow): Watcher[] {
    return [...this.#watchers].filter((watcher) => watcher.wants(row));
  }

  #ask(sessionId: string): void {
    const before = this.#asking.get(sessionId);
    if (before !== undefined) {
      before.again = true;
      return;
    }
    const asking: Asking = { again: false, hurry: () => undefined };
    this.#asking.set(sessionId, asking);
    this.#askOn(sessionId, asking)
      .then(() => this.#forgetIfOver(sessionId))
      .catch((error: unknown) =>
        this.#options.log.warn({ sessionId, err: error }, 'a screen cannot be watched'),
      )
      .finally(() => {
        this.#asking.delete(sessionId);
        if (asking.again && !this.#closed) this.#ask(sessionId);
      });
  }

  #forgetIfOver(sessionId: string): void {
    const row = findSession(this.#options.store.sql, sessionId);
    if (row === null || !isLive(row) || this.#watchers.size === 0) this.#latest.delete(sessionId);
  }

  /** Until nobody watches, the session has ended, or its keeper is out of reach. */
  async #askOn(sessionId: string, asking: Asking): Promise<void> {
    const { store, keepers } = this.#options;
    for (let after = -1; !this.#closed;) {
      const row = findSession(store.sql, sessionId);
      if (row?.transport !== 'pty' || !isLive(row) || this.#watchersOf(row).length === 0) return;
      const frame = await nextFrame(keepers.get(row.keeper_id), sessionId, after);
      // Its keeper may hold it again, or somebody else's news may tell what became of it.
      if (frame === null) return;
      after = frame.revision;
      this.#show(row, frame);
      if (frame.ended) return;
      if (asking.again) asking.again = false;
      else await pause(asking);
    }
  }

  #show(row: SessionRow, { revision, ended: _, ...rest }: KeeperFrame): void {
    // The end of a session is no new screen, and a question asked anew is answered with what was shown.
    const before = this.#latest.get(row.id);
    if (before?.session.generation === row.generation && before.frame.sequence >= revision) return;
    const frame: ScreenFrame = { ...rest, lines: [...rest.lines], sequence: revision };
    const session: SessionAddress = {
      workspaceId: row.workspace_id,
      sessionId: row.id,
      generation: row.generation,
    };
    const shown = { session, frame };
    this.#latest.set(row.id, shown);
    for (const watcher of this.#watchersOf(row)) watcher.offer(shown);
  }
}

function pause(asking: Asking): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, FRAME_MS);
    timer.unref();
    asking.hurry = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

class Watcher implements ScreenSource {
  readonly #filter: ScreenFilter;
  readonly #closed: () => void;
  /** The newest screen of each session that was not taken yet; the longest waiting first. */
  readonly #pending = new Map<string, Shown>();
  #ready: () => void = () => undefined;

  constructor(filter: ScreenFilter, closed: () => void) {
    this.#filter = filter;
    this.#closed = closed;
  }

  wants(row: SessionRow): boolean {
    const { sessions, mayWatch } = this.#filter;
    return (sessions === 'all' || sessions.includes(row.id)) && mayWatch(row);
  }

  offer(shown: Shown): void {
    const { sessionId, generation } = shown.session;
    const before = this.#pending.get(sessionId);
    // Never back: an older run, or an older screen of the same one.
    const isSameRun = before?.session.generation === generation;
    if (isSameRun && shown.frame.sequence <= before.frame.sequence) return;
    this.#pending.set(sessionId, shown);
    this.#ready();
  }

  take(): Shown | null {
    const [next] = this.#pending;
    if (next === undefined) return null;
    this.#pending.delete(next[0]);
    return next[1];
  }

  onReady(listener: () => void): void {
    this.#ready = listener;
    if (this.#pending.size > 0) listener();
  }

  close(): void {
    this.#pending.clear();
    this.#closed();
  }
}
