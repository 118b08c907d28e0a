// Browsers log in with a link that is good once, for a few minutes. Its code is in the fragment of the URL, which no browser sends: it is
// in no access log and no referrer. What the browser gets for it is the secret of a cookie, stored here as its hash.
import * as z from 'zod';
import { FailureError, LOGIN_LINK_MS, TokenId, type UserName } from '@roost/protocol';
import type { Store } from '../store/store.ts';
import type { AccessChanges } from './access-changes.ts';
import type { Accounts } from './accounts.ts';
import { scopeText } from './bounds.ts';
import {
  boundsOfMaker,
  CredentialRow,
  goodCredential,
  minuteOf,
  note,
  type CredentialParts,
  type GoodCredential,
} from './credentials.ts';
import type { Principal } from './principal.ts';
import { hashOf, newId, newSecret, type RandomBytes } from './secrets.ts';

/** Milliseconds after the last use, and after the login, at which a browser is logged out. */
export const BROWSER_IDLE_MS = 12 * 3_600_000;
export const BROWSER_LIFE_MS = 7 * 86_400_000;
/** Open links, and browser sessions, of one user: the oldest make room. */
export const LINKS_OF_USER_MAX = 16;
export const BROWSERS_OF_USER_MAX = 64;
const SECRET = /^[0-9a-f]{64}$/;

const LinkRow = CredentialRow.extend({ made_with: TokenId.nullable(), expires_at: z.int() });
const SessionRow = CredentialRow.extend({
  id: z.string(),
  created_at: z.int(),
  used_at: z.int(),
  /** When the token ends that it was made with. */
  token_expires_at: z.int().nullable(),
});

/** `id`: 16 hexadecimal digits. `expiresAt`: when it ends unless it is used before. */
type GoodBrowserSession = GoodCredential<string>;

export class Logins {
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

  /**
   * Whoever makes one for themselves gives it no more than what they came with.
   * @throws FailureError: unknown-user, also for one who may not log in; forbidden.
   */
  createLink(user: UserName, maker: Principal): { readonly code: string; readonly expiresAt: number } {
    return this.#store.transact((sql) => {
      const now = this.#now();
      const { role, scope } = boundsOfMaker(this.#store, maker, user);
      if (this.#accounts.find(user)?.disabled !== false) throw new FailureError('unknown-user', { user });
      const madeWith = maker.user === user && maker.credential.kind === 'token' ? maker.credential.id : null;
      const code = newSecret(this.#random);
      const expiresAt = now + LOGIN_LINK_MS;
      sql.run('DELETE FROM login_links WHERE expires_at <= ?', now);
      sql.run(
        'INSERT INTO login_links (hash, user, role, scope, made_with, expires_at) VALUES (?, ?, ?, ?, ?, ?)',
        hashOf(code),
        user,
        role,
        scopeText(scope),
        madeWith,
        expiresAt,
      );
      sql.run(
        `DELETE FROM login_links WHERE user = ? AND rowid NOT IN
          (SELECT rowid FROM login_links WHERE user = ? ORDER BY rowid DESC LIMIT ${LINKS_OF_USER_MAX})`,
        user,
        user,
      );
      return { code, expiresAt };
    });
  }

  /** Takes the link, and logs in. `cookie` is told here and never again. @throws FailureError: unauthenticated. */
  redeem(code: string): { readonly cookie: string; readonly session: GoodBrowserSession } {
    return this.#store.transact((sql) => {
      const now = this.#now();
      const link = this.#take(code);
      const id = newId(this.#random);
      const cookie = newSecret(this.#random);
      const usedAt = minuteOf(now);
      sql.run(
        'DELETE FROM browser_sessions WHERE used_at <= ? OR created_at <= ?',
        now - BROWSER_IDLE_MS,
        now - BROWSER_LIFE_MS,
      );
      sql.run(
        `INSERT INTO browser_sessions (id, hash, user, role, scope, made_with, created_at, used_at)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        id,
        hashOf(cookie),
        link.user,
        link.role,
        scopeText(link.scope),
        link.made_with,
        now,
        usedAt,
      );
      this.#makeRoom(link.user);
      const session = this.find(id);
      // The token that the link was made with is over.
      if (session === null) throw new FailureError('unauthenticated');
      return { cookie, session };
    });
  }

  /** Logs a browser out. */
  end(id: string): void {
    this.#store.transact((sql) => {
      sql.run('DELETE FROM browser_sessions WHERE id = ?', id);
      this.#changes.tell({ kind: 'cookie', id });
    });
  }

  /** null: the secret is of no good browser session. Counts as its use. */
  findByCookie(cookie: string): GoodBrowserSession | null {
    return SECRET.test(cookie) ? this.#find('hash', hashOf(cookie)) : null;
  }

  /** null: no good browser session has that id. Counts as its use. */
  find(id: string): GoodBrowserSession | null {
    return this.#find('id', id);
  }

  /** A link is good once. */
  #take(code: string): z.infer<typeof LinkRow> {
    const hash = hashOf(code);
    const found = this.#store.sql.get(
      'SELECT user, role, scope, made_with, expires_at FROM login_links WHERE hash = ?',
      hash,
    );
    if (found === undefined) throw new FailureError('unauthenticated');
    const link = LinkRow.parse(found);
    if (link.expires_at <= this.#now() || this.#accounts.find(link.user)?.disabled !== false)
      throw new FailureError('unauthenticated');
    this.#store.sql.run('DELETE FROM login_links WHERE hash = ?', hash);
    return link;
  }

  #find(column: 'hash' | 'id', value: string): GoodBrowserSession | null {
    const found = this.#store.sql.get(
      `SELECT login.id, login.user, login.role, login.scope, login.created_at, login.used_at,
          token.expires_at AS token_expires_at
        FROM browser_sessions AS login LEFT JOIN tokens AS token ON token.id = login.made_with
        WHERE login.${column} = ?`,
      value,
    );
    if (found === undefined) return null;
    const row = SessionRow.parse(found);
    const now = this.#now();
    const end = Math.min(row.created_at + BROWSER_LIFE_MS, row.token_expires_at ?? Infinity);
    if (end <= now || row.used_at + BROWSER_IDLE_MS <= now) return null;
    const usedAt = Math.max(row.used_at, minuteOf(now));
    if (usedAt > row.used_at)
      note(() => this.#store.sql.run('UPDATE browser_sessions SET used_at = ? WHERE id = ?', usedAt, row.id));
    return goodCredential(row, Math.min(end, usedAt + BROWSER_IDLE_MS));
  }

  #makeRoom(user: UserName): void {
    const { sql } = this.#store;
    const old = z
      .array(z.object({ id: z.string() }))
      .parse(
        sql.all(
          `SELECT id FROM browser_sessions WHERE user = ? ORDER BY rowid DESC LIMIT -1 OFFSET ${BROWSERS_OF_USER_MAX}`,
          user,
        ),
      );
    for (const { id } of old) this.end(id);
  }
}

/** `hubUrl`: where browsers find the hub. */
export function loginUrl(hubUrl: string, code: string): string {
  return `${hubUrl.replace(/\/+$/, '')}/#/login/${code}`;
}
