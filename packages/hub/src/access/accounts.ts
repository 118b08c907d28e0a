// The users of a hub. Somebody who may administer it is always among them, once there is one.
import * as z from 'zod';
import { FailureError, HubRole, UserName, type HubScope, type HubUser } from '@roost/protocol';
import type { Store } from '../store/store.ts';
import type { AccessChanges } from './access-changes.ts';
import { scopeText, StoredScope, type Bounds } from './bounds.ts';

const Row = z.object({
  name: UserName,
  role: HubRole,
  scope: StoredScope,
  disabled: z.int().transform((flag) => flag !== 0),
  created_at: z.int(),
});
const COLUMNS = 'name, role, scope, disabled, created_at';

/** Actors of the audit log that are no users. */
const RESERVED: ReadonlySet<string> = new Set(['local', 'nobody']);

export interface UserChange {
  readonly name: UserName;
  readonly role?: HubRole | undefined;
  readonly scope?: HubScope | null | undefined;
  readonly disabled?: boolean | undefined;
}

export class Accounts {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #changes: AccessChanges;

  constructor(parts: { store: Store; now: () => number; changes: AccessChanges }) {
    this.#store = parts.store;
    this.#now = parts.now;
    this.#changes = parts.changes;
  }

  /** By name. */
  list(): HubUser[] {
    return this.#store.sql.all(`SELECT ${COLUMNS} FROM users ORDER BY name`).map(toUser);
  }

  find(name: UserName): HubUser | null {
    const row = this.#store.sql.get(`SELECT ${COLUMNS} FROM users WHERE name = ?`, name);
    return row === undefined ? null : toUser(row);
  }

  /** @throws FailureError: name-taken; invalid-request for an admin of some nodes only. */
  create({ name, role, scope }: Bounds & { readonly name: UserName }): HubUser {
    checkBounds({ role, scope });
    return this.#store.transact((sql) => {
      if (RESERVED.has(name) || this.find(name) !== null) throw new FailureError('name-taken', { name });
      const createdAt = this.#now();
      sql.run(
        'INSERT INTO users (name, role, scope, disabled, created_at) VALUES (?, ?, ?, 0, ?)',
        name,
        role,
        scopeText(scope),
        createdAt,
      );
      return { name, role, scope, disabled: false, createdAt: new Date(createdAt).toISOString() };
    });
  }

  /**
   * What is left out stays. A user who may not log in any more is logged out of every browser.
   * @throws FailureError: unknown-user, last-admin; invalid-request for an admin of some nodes only.
   */
  change({ name, ...wanted }: UserChange): HubUser {
    return this.#store.transact((sql) => {
      const before = this.#require(name);
      const after: HubUser = {
        ...before,
        role: wanted.role ?? before.role,
        scope: wanted.scope === undefined ? before.scope : wanted.scope,
        disabled: wanted.disabled ?? before.disabled,
      };
      checkBounds(after);
      if (!isAdmin(after)) this.#keepAnAdmin(before);
      sql.run(
        'UPDATE users SET role = ?, scope = ?, disabled = ? WHERE name = ?',
        after.role,
        scopeText(after.scope),
        after.disabled ? 1 : 0,
        name,
      );
      if (after.disabled) {
        sql.run('DELETE FROM browser_sessions WHERE user = ?', name);
        sql.run('DELETE FROM login_links WHERE user = ?', name);
      }
      this.#changes.tell({ kind: 'user', user: name });
      return after;
    });
  }

  /** With their tokens, links and browser sessions. @throws FailureError: unknown-user, last-admin. */
  remove(name: UserName): void {
    this.#store.transact((sql) => {
      this.#keepAnAdmin(this.#require(name));
      sql.run('DELETE FROM users WHERE name = ?', name);
      this.#changes.tell({ kind: 'user', user: name });
    });
  }

  #require(name: UserName): HubUser {
    const user = this.find(name);
    if (user === null) throw new FailureError('unknown-user', { user: name });
    return user;
  }

  #keepAnAdmin(leaving: HubUser): void {
    if (isAdmin(leaving) && this.list().filter(isAdmin).length === 1)
      throw new FailureError('last-admin', { user: leaving.name });
  }
}

const isAdmin = ({ role, disabled }: HubUser) => role === 'admin' && !disabled;

function checkBounds({ role, scope }: Bounds): void {
  if (role === 'admin' && scope !== null)
    throw new FailureError('invalid-request', {
      field: 'scope',
      reason: 'an admin is not bound to some nodes',
    });
}

function toUser(row: unknown): HubUser {
  const { created_at: createdAt, ...rest } = Row.parse(row);
  return { ...rest, createdAt: new Date(createdAt).toISOString() };
}
