// What tokens and browser sessions have in common: bounds of their own beside those of their user, and a minute of their last use.
import * as z from 'zod';
import { FailureError, HubRole, UserName, type HubScope, type HubUser } from '@roost/protocol';
import type { Store } from '../store/store.ts';
import type { AccessChanges } from './access-changes.ts';
import type { Accounts } from './accounts.ts';
import { lesserRole, StoredScope, UNBOUNDED, type Bounds } from './bounds.ts';
import type { Principal } from './principal.ts';
import type { RandomBytes } from './secrets.ts';

const MINUTE_MS = 60_000;

/** Its own bounds, in a row. */
const BoundsRow = z.object({ role: HubRole, scope: StoredScope });
/** With the user whom it speaks for. */
export const CredentialRow = BoundsRow.extend({ user: UserName });

/** A token or browser session that is good, as far as itself is concerned. */
export interface GoodCredential<Id extends string> {
  readonly id: Id;
  readonly user: UserName;
  readonly bounds: Bounds;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export function goodCredential<Id extends string>(
  { id, user, role, scope }: z.infer<typeof CredentialRow> & { readonly id: Id },
  expiresAt: number,
): GoodCredential<Id> {
  return { id, user, bounds: { role, scope }, expiresAt };
}

/** What their tables are kept with. */
export interface CredentialParts {
  readonly store: Store;
  readonly now: () => number;
  readonly random: RandomBytes;
  readonly changes: AccessChanges;
  readonly accounts: Accounts;
}

/**
 * What a credential that this principal makes for a user may do at most: for oneself, no more than what one came with. An admin who makes
 * one for another user adds no bound to those of that user.
 * @throws FailureError: forbidden when it is another user and the principal is no admin; unauthenticated when what it came with is over.
 */
export function boundsOfMaker(store: Store, maker: Principal, user: UserName): Bounds {
  if (maker.user !== user) {
    if (maker.role !== 'admin') throw new FailureError('forbidden', { role: maker.role, needed: 'admin' });
    return UNBOUNDED;
  }
  const { credential } = maker;
  if (credential.kind === 'socket') return UNBOUNDED;
  const table = credential.kind === 'token' ? 'tokens' : 'browser_sessions';
  const row = store.sql.get(`SELECT role, scope FROM ${table} WHERE id = ?`, credential.id);
  if (row === undefined) throw new FailureError('unauthenticated');
  return BoundsRow.parse(row);
}

/**
 * The user whom a request about oneself is for: the one who asks unless it names one.
 * @throws FailureError: forbidden when it names another and an admin does not ask; invalid-request when whoever asks is no user and
 * names none.
 */
export function userFor(principal: Principal, named: UserName | undefined): UserName {
  const user = named ?? principal.user;
  if (user === null) throw new FailureError('invalid-request', { field: 'user' });
  if (user !== principal.user && principal.role !== 'admin')
    throw new FailureError('forbidden', { role: principal.role, needed: 'admin' });
  return user;
}

/**
 * The role that a credential gets: the one asked for, or the most that it can have. `scope`: what it and its user reach together.
 * @throws FailureError: forbidden when it is more than it can have; invalid-request for an admin of some nodes only.
 */
export function roleFor(
  asked: HubRole | undefined,
  limits: { readonly user: HubUser; readonly maker: Bounds; readonly scope: HubScope | null },
): HubRole {
  const most = lesserRole(limits.user.role, limits.maker.role);
  const isBound = limits.scope !== null;
  if (asked === undefined) return isBound ? lesserRole(most, 'operator') : most;
  if (lesserRole(asked, most) !== asked) throw new FailureError('forbidden', { role: most, needed: asked });
  if (isBound && asked === 'admin')
    throw new FailureError('invalid-request', {
      field: 'scope',
      reason: 'an admin is not bound to some nodes',
    });
  return asked;
}

/** Start of the minute. */
export function minuteOf(time: number): number {
  return Math.floor(time / MINUTE_MS) * MINUTE_MS;
}

/** Runs what only notes the time of a use: that it cannot be stored must keep nobody out. */
export function note(write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!(error instanceof FailureError)) throw error;
  }
}
