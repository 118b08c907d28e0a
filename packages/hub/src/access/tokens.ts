// Personal tokens: `roost_hub_` and 64 hexadecimal digits, told once and stored as their hash. What one may do is decided when it is used.
import * as z from 'zod';
import {
  FailureError,
  TokenId,
  type HubRole,
  type HubScope,
  type HubToken,
  type HubUser,
  type UserName,
} from '@roost/protocol';
import type { Store } from '../store/store.ts';
import type { AccessChanges } from './access-changes.ts';
import type { Accounts } from './accounts.ts';
import { isWithin, meet, meetScopes, scopeText } from './bounds.ts';
import {
  boundsOfMaker,
  CredentialRow,
  goodCredential,
  minuteOf,
  note,
  roleFor,
  type CredentialParts,
  type GoodCredential,
} from './credentials.ts';
import type { Principal } from './principal.ts';
import { hashOf, newId, newSecret, type RandomBytes } from './secrets.ts';

const DAY_MS = 86_400_000;
/** Good tokens of one user. */
export const TOKENS_OF_USER_MAX = 256;
const SECRET = /^roost_hub_[0-9a-f]{64}$/;

const Row = CredentialRow.extend({
  id: TokenId,
  label: z.string(),
  created_at: z.int(),
  expires_at: z.int(),
  last_used_at: z.int().nullable(),
});
type Row = z.infer<typeof Row>;
const COLUMNS = 'id, user, label, role, scope, created_at, expires_at, last_used_at';

export interface NewToken {
  readonly user: UserName;
  readonly label: string;
  /** The most that it can have, when undefined. */
  readonly role?: HubRole | undefined;
  /** null: no bound of its own. */
  readonly scope: HubScope | null;
  readonly expiresInDays: number;
}

type GoodToken = GoodCredential<TokenId>;

export class Tokens {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #random: RandomBytes;
  readonly #changes: AccessChanges;
  readonly #accounts: Accounts;

  constructor(parts: CredentialParts) {
    this.#store = parts.store;
    this.#now = parts.now;
    this.#random = parts.random;
    this.#changes = parts.changes;
    this.#accounts = parts.accounts;
  }

  /** Those that are good, the newest first, with what they may do now. `owner` null: of all users. */
  list(owner: UserName | null): HubToken[] {
    const users = new Map(this.#accounts.list().map((user) => [user.name, user]));
    return this.#store.sql
      .all(`SELECT ${COLUMNS} FROM tokens WHERE expires_at > ? ORDER BY created_at DESC, id`, this.#now())
      .map((row) => Row.parse(row))
      .filter(({ user }) => owner === null || user === owner)
      .flatMap((row) => {
        const user = users.get(row.user);
        return user === undefined ? [] : [toToken(row, user)];
      });
  }

  /**
   * Whoever makes one for themselves gives it no more than what they came with. The secret is told here and never again.
   * @throws FailureError: unknown-user; forbidden, out-of-scope when it would do more than it can; invalid-request for an admin of some
   * nodes only, or when the user has as many as one may have.
   */
  create(wanted: NewToken, maker: Principal): { token: HubToken; secret: string } {
    return this.#store.transact((sql) => {
      const now = this.#now();
      const limit = boundsOfMaker(this.#store, maker, wanted.user);
      const user = this.#accounts.find(wanted.user);
      if (user === null) throw new FailureError('unknown-user', { user: wanted.user });
      if (wanted.scope !== null && !isWithin(wanted.scope, meetScopes(user.scope, limit.scope)))
        throw new FailureError('out-of-scope');
      const scope = wanted.scope ?? limit.scope;
      const role = roleFor(wanted.role, { user, maker: limit, scope: meetScopes(scope, user.scope) });
      sql.run('DELETE FROM tokens WHERE expires_at <= ?', now);
      this.#refuseTooMany(wanted.user);
      const secret = `roost_hub_${newSecret(this.#random)}`;
      const row: Row = {
        id: TokenId.parse(newId(this.#random)),
        user: wanted.user,
        label: wanted.label,
        role,
        scope,
        created_at: now,
        expires_at: now + wanted.expiresInDays * DAY_MS,
        last_used_at: null,
      };
      sql.run(
        `INSERT INTO tokens (hash, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        hashOf(secret),
        row.id,
        row.user,
        row.label,
        row.role,
        scopeText(row.scope),
        row.created_at,
        row.expires_at,
        row.last_used_at,
      );
      return { token: toToken(row, user), secret };
    });
  }

  /** With the browser sessions that were made with it. `owner` null: whoever's it is. @throws FailureError: unknown-token. */
  revoke(id: TokenId, owner: UserName | null): void {
    this.#store.transact((sql) => {
      const row = sql.get(`SELECT ${COLUMNS} FROM tokens WHERE id = ?`, id);
      const token = row === undefined ? null : Row.parse(row);
      if (token === null || (owner !== null && token.user !== owner))
        throw new FailureError('unknown-token', { tokenId: id });
      const sessions = z
        .array(z.object({ id: z.string() }))
        .parse(sql.all('SELECT id FROM browser_sessions WHERE made_with = ?', id));
      sql.run('DELETE FROM tokens WHERE id = ?', id);
      this.#changes.tell({ kind: 'token', id });
      for (const session of sessions) this.#changes.tell({ kind: 'cookie', id: session.id });
    });
  }

  /** null: the secret is of no good token. */
  findBySecret(secret: string): GoodToken | null {
    return SECRET.test(secret) ? this.#find('hash', hashOf(secret)) : null;
  }

  /** null: no good token has that id. */
  find(id: TokenId): GoodToken | null {
    return this.#find('id', id);
  }

  #find(column: 'hash' | 'id', value: string): GoodToken | null {
    const found = this.#store.sql.get(`SELECT ${COLUMNS} FROM tokens WHERE ${column} = ?`, value);
    if (found === undefined) return null;
    const row = Row.parse(found);
    const now = this.#now();
    if (row.expires_at <= now) return null;
    const minute = minuteOf(now);
    if (row.last_used_at === null || row.last_used_at < minute)
      note(() => this.#store.sql.run('UPDATE tokens SET last_used_at = ? WHERE id = ?', minute, row.id));
    return goodCredential(row, row.expires_at);
  }

  #refuseTooMany(user: UserName): void {
    const { count } = z
      .object({ count: z.int() })
      .parse(this.#store.sql.get('SELECT count(*) AS count FROM tokens WHERE user = ?', user));
    if (count >= TOKENS_OF_USER_MAX)
      throw new FailureError('invalid-request', {
        reason: 'the user has too many tokens',
        limit: TOKENS_OF_USER_MAX,
      });
  }
}

function toToken(row: Row, user: HubUser): HubToken {
  return {
    id: row.id,
    user: row.user,
    label: row.label,
    ...meet(row, user),
    createdAt: new Date(row.created_at).toISOString(),
    expiresAt: new Date(row.expires_at).toISOString(),
    lastUsedAt: row.last_used_at === null ? null : new Date(row.last_used_at).toISOString(),
  };
}
