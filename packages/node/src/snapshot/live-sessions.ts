// Sessions as they are this moment: what changes by the second (title, size, clients) is laid over what events told, and no event
// tells of it. So whoever asks for what changed after a sequence also gets the sessions that were seen to differ since then.
import { LIVE_STATUSES, type Session, type Versioned } from '@roost/protocol';
import type { ChildState } from '@roost/keeper/wire';
import { withChild } from '../sessions/session-table.ts';

interface Seen {
  readonly session: Session;
  /** The newest event when it was first seen like this; -1 when it is just what its event told. */
  readonly since: number;
}

export class LiveSessions {
  readonly #child: (keeperId: string | null, sessionId: string) => ChildState | null;
  /** By what the last event told of the session. */
  readonly #seen = new WeakMap<Session, Seen>();

  constructor(child: (keeperId: string | null, sessionId: string) => ChildState | null) {
    this.#child = child;
  }

  /** All of them, or those that are different after a sequence; `last` is the newest event. */
  show(sessions: Iterable<Versioned<Session>>, after: number | null, last: number): Session[] {
    const shown: Session[] = [];
    for (const { value, changedAt } of sessions) {
      const { session, since } = LIVE_STATUSES.includes(value.status)
        ? this.#look(value, last)
        : { session: value, since: -1 };
      // Others may have seen it otherwise at that same sequence.
      if (after === null || changedAt > after || since >= after) shown.push(session);
    }
    return shown;
  }

  #look(told: Session, last: number): Seen {
    const before = this.#seen.get(told) ?? { session: told, since: -1 };
    const session = withChild(told, this.#child(told.keeperId, told.id));
    const seen = isSame(session, before.session) ? before : { session, since: last };
    this.#seen.set(told, seen);
    return seen;
  }
}

function isSame(one: Session, other: Session): boolean {
  return (
    one.title === other.title &&
    one.attachedClients === other.attachedClients &&
    one.status === other.status &&
    one.size?.columns === other.size?.columns &&
    one.size?.rows === other.size?.rows
  );
}
