// Whether the hub works, by trying: it writes to its database, and asks a node something. What was found out is told again for some
// seconds: anybody may ask.
import { performance } from 'node:perf_hooks';
import { LinkState, type HubNode } from '@roost/protocol';
import type { Fleet } from '../fleet/fleet.ts';
import type { Store } from '../store/store.ts';

/** Milliseconds that a finding is told again. */
const KNOWN_MS = 5_000;
/** Milliseconds for the question to a node. */
const ROUND_TRIP_MS = 3_000;

export interface Health {
  readonly ok: boolean;
  readonly store: { readonly writable: boolean };
  /** Enrolled nodes by the state of their link. */
  readonly links: Readonly<Record<LinkState, number>>;
  /** Of one node that is online, another one each time; null when none is. */
  readonly roundTrip: { readonly ok: boolean; readonly milliseconds: number } | null;
}

export class HealthChecks {
  readonly #fleet: Fleet;
  readonly #store: Store;
  readonly #monotonicNow: () => number;
  #known: { readonly at: number; readonly health: Promise<Health> } | null = null;
  #turn = 0;

  constructor({ fleet, store, monotonicNow }: { fleet: Fleet; store: Store; monotonicNow: () => number }) {
    this.#fleet = fleet;
    this.#store = store;
    this.#monotonicNow = monotonicNow;
  }

  look(): Promise<Health> {
    const now = this.#monotonicNow();
    if (this.#known === null || now - this.#known.at > KNOWN_MS)
      this.#known = { at: now, health: this.#find() };
    return this.#known.health;
  }

  async #find(): Promise<Health> {
    const writable = this.#canWrite();
    const nodes = this.#fleet.nodes();
    const roundTrip = await this.#roundTrip(nodes.filter(({ link }) => link.state === 'online'));
    const links = Object.fromEntries(
      LinkState.options.map((state) => [state, nodes.filter(({ link }) => link.state === state).length]),
    ) as Record<LinkState, number>;
    return { ok: writable && roundTrip?.ok !== false, store: { writable }, links, roundTrip };
  }

  #canWrite(): boolean {
    try {
      // Takes the lock for writing, and a page of the log.
      this.#store.transact((sql) => sql.run('UPDATE hub SET hub_id = hub_id'));
      return true;
    } catch {
      return false;
    }
  }

  async #roundTrip(online: readonly HubNode[]): Promise<Health['roundTrip']> {
    const node = online[this.#turn++ % Math.max(online.length, 1)];
    if (node === undefined) return null;
    const asked = performance.now();
    const isAnswered = await this.#fleet
      .request(node.id, { operation: 'controller.show', params: {}, timeoutMs: ROUND_TRIP_MS })
      .then(
        () => true,
        () => false,
      );
    return { ok: isAnswered, milliseconds: Math.round(performance.now() - asked) };
  }
}
