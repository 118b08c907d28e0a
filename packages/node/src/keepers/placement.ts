// Where a new session goes. One keeper at first, so an idle machine pays for one; another when all are busy, so one crash or one
// flood does not hurt all; after that the least busy.

/** Live sessions at which a keeper is busy. */
const BUSY_SESSIONS = 4;

export interface KeeperLoad {
  readonly id: string;
  /** Live sessions, and those on their way. */
  readonly sessions: number;
}

export interface Placement {
  /** null: none serves yet. */
  readonly keeperId: string | null;
  /**
   * `now`: before this session, which stays where it is put. `ahead`: beside it, so that the next one need not wait.
   */
  readonly startAnother: 'no' | 'ahead' | 'now';
}

/** `serving`: connected keepers of this build. */
export function placeSession(serving: readonly KeeperLoad[], keepersMax: number): Placement {
  const least = serving.reduce<KeeperLoad | null>(
    (best, one) => (best === null || one.sessions < best.sessions ? one : best),
    null,
  );
  if (least === null) return { keeperId: null, startAnother: 'now' };
  const keeperId = least.id;
  if (serving.length >= keepersMax || least.sessions + 1 < BUSY_SESSIONS)
    return { keeperId, startAnother: 'no' };
  return { keeperId, startAnother: least.sessions < BUSY_SESSIONS ? 'ahead' : 'now' };
}

/** Milliseconds without a session after which a keeper may be more than is needed: sessions come in waves. */
const SURPLUS_AFTER_MS = 60_000;

/** Keepers that are let go: idle for long, while another one has room. */
export function surplusKeepers(serving: readonly (KeeperLoad & { readonly idleMs: number })[]): string[] {
  const hasRoom = (one: KeeperLoad) => one.sessions + 1 < BUSY_SESSIONS;
  const surplus: string[] = [];
  for (const { id, sessions, idleMs } of serving) {
    if (sessions > 0 || idleMs < SURPLUS_AFTER_MS) continue;
    if (serving.some((other) => other.id !== id && hasRoom(other) && !surplus.includes(other.id)))
      surplus.push(id);
  }
  return surplus;
}
