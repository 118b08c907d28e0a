// Where a new session goes. One keeper at first, so an idle machine pays for one; another when all are busy, so one crash or one
// flood does not hurt all; after that the least busy.

/** Live sessions at which another keeper is wanted. */
const SESSIONS_BEFORE_ANOTHER = 4;

export interface KeeperLoad {
  readonly id: string;
  /** Live sessions, and those on their way. */
  readonly sessions: number;
}

export interface Placement {
  /** null: none serves yet. */
  readonly keeperId: string | null;
  readonly startAnother: boolean;
}

/** `serving`: connected keepers of this build. */
export function placeSession(serving: readonly KeeperLoad[], keepersMax: number): Placement {
  const least = serving.reduce<KeeperLoad | null>(
    (best, one) => (best === null || one.sessions < best.sessions ? one : best),
    null,
  );
  if (least === null) return { keeperId: null, startAnother: true };
  const busy = least.sessions >= SESSIONS_BEFORE_ANOTHER;
  return { keeperId: least.id, startAnother: busy && serving.length < keepersMax };
}
