// Everything about who may do what at a hub, put together.
import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { NodeTable } from '../store/node-table.ts';
import type { Store } from '../store/store.ts';
import { AccessChanges, type AccessChange } from './access-changes.ts';
import { Accounts } from './accounts.ts';
import { Attempts } from './attempts.ts';
import { Authenticator } from './authenticate.ts';
import { Invites } from './invites.ts';
import { Logins } from './logins.ts';
import type { RandomBytes } from './secrets.ts';
import { Tokens } from './tokens.ts';

export interface AccessParts {
  readonly store: Store;
  readonly nodes: NodeTable;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Milliseconds that only grow. */
  readonly monotonic?: () => number;
  readonly random?: RandomBytes;
}

export interface Access {
  readonly accounts: Accounts;
  readonly tokens: Tokens;
  readonly logins: Logins;
  readonly invites: Invites;
  readonly authenticator: Authenticator;
  readonly attempts: Attempts;
  /** Told when a credential or a user ended or changed; `concerns` says whose. Answers how to no longer be told. */
  onRevoked(listener: (change: AccessChange) => void): () => void;
}

export function openAccess({
  store,
  nodes,
  now = Date.now,
  monotonic = () => performance.now(),
  random = randomBytes,
}: AccessParts): Access {
  const changes = new AccessChanges(store);
  const accounts = new Accounts({ store, now, changes });
  const tokens = new Tokens({ store, now, random, changes, accounts });
  const logins = new Logins({ store, now, random, changes, accounts });
  return {
    accounts,
    tokens,
    logins,
    invites: new Invites({ store, now, random, nodes }),
    authenticator: new Authenticator({ accounts, tokens, logins }),
    attempts: new Attempts(monotonic),
    onRevoked: (listener) => changes.onChange(listener),
  };
}
