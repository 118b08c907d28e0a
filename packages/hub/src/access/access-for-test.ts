// For tests only: a store in a temporary directory, with a clock and randomness that tests decide.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  FailureError,
  NodeId,
  UserName,
  WorkspaceId,
  type FailureCode,
  type HubRole,
  type HubScope,
} from '@roost/protocol';
import { NodeTable } from '../store/node-table.ts';
import { Store } from '../store/store.ts';
import { openAccess, type Access } from './access.ts';
import { LOCAL } from './authenticate.ts';
import type { Principal } from './principal.ts';

export const user = (name: string) => UserName.parse(name);
export const nodeId = (number: number) => NodeId.parse(number.toString(16).padStart(16, '0'));
export const workspace = (name: string) => WorkspaceId.parse(name);

/** Different bytes each time, the same in every run. */
export function countedBytes(): (count: number) => Buffer {
  let drawn = 0;
  return (count) => {
    drawn += 1;
    return createHash('sha256').update(`draw ${drawn}`).digest().subarray(0, count);
  };
}

export class TestAccess {
  readonly directory = mkdtempSync(join(tmpdir(), 'roost-hub-'));
  /** Milliseconds since the epoch. */
  now = Date.parse('2030-01-01T12:00:30.000Z');
  /** Milliseconds that only grow. */
  elapsed = 0;
  store: Store;
  nodes: NodeTable;
  access: Access;
  readonly #random = countedBytes();

  constructor() {
    [this.store, this.nodes, this.access] = this.#open();
  }

  get path(): string {
    return join(this.directory, 'hub.db');
  }

  /** As after a new start of the hub. */
  reopen(): void {
    this.store.close();
    [this.store, this.nodes, this.access] = this.#open();
  }

  remove(): void {
    this.store.close();
    rmSync(this.directory, { recursive: true, force: true });
  }

  addUser(name: string, role: HubRole, scope: HubScope | null = null): UserName {
    return this.access.accounts.create({ name: user(name), role, scope }).name;
  }

  /** Who asks with a new token of that user. */
  tokenOf(
    name: UserName,
    bounds: { role?: HubRole; scope?: HubScope | null } = {},
  ): { secret: string; principal: Principal } {
    const { secret } = this.access.tokens.create(
      { user: name, label: 'test', role: bounds.role, scope: bounds.scope ?? null, expiresInDays: 90 },
      LOCAL,
    );
    return { secret, principal: known(this.byToken(secret)) };
  }

  /** Who asks in a browser in which that user has just logged in. */
  browserOf(name: UserName, maker: Principal = LOCAL): { cookie: string; principal: Principal } {
    const { cookie } = this.access.logins.redeem(this.access.logins.createLink(name, maker).code);
    return { cookie, principal: known(this.byCookie(cookie)) };
  }

  byToken(secret: string): Principal | null {
    return this.access.authenticator.authenticate({ authorization: `Bearer ${secret}` });
  }

  byCookie(cookie: string): Principal | null {
    return this.access.authenticator.authenticate({ cookie });
  }

  #open(): [Store, NodeTable, Access] {
    const store = Store.open(this.path);
    const nodes = new NodeTable(store);
    const access = openAccess({
      store,
      nodes,
      now: () => this.now,
      monotonic: () => this.elapsed,
      random: this.#random,
    });
    return [store, nodes, access];
  }
}

function known(principal: Principal | null): Principal {
  if (principal === null) throw new Error('nobody was authenticated');
  return principal;
}

/** The code with which something is refused; null when it is not. */
export function refusalOf(act: () => unknown): FailureCode | null {
  try {
    act();
  } catch (error) {
    if (error instanceof FailureError) return error.failure.code;
    throw error;
  }
  return null;
}
