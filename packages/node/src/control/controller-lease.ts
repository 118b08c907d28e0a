// Exclusive right to change the node: held by one connection, for a time measured on the monotonic clock, in memory only. Taking,
// losing and expiry are events; renewing is none.
import {
  FailureError,
  LEASE_MS_DEFAULT,
  LEASE_MS_MAX,
  LEASE_MS_MIN,
  type ConnectionId,
  type ControllerState,
  type EventBody,
} from '@roost/protocol';
import type { Caller } from './handlers.ts';

type Change = Extract<EventBody, { kind: 'controller-changed' }>;
type Holder = Pick<Caller, 'connectionId' | 'clientName'>;

interface Lease extends Holder {
  /** On the monotonic clock. */
  readonly expiresAt: number;
}

export interface ControllerLeaseOptions {
  /** Milliseconds that only grow. */
  readonly monotonicNow: () => number;
  /** Stores and publishes a new holder; throws when that cannot be stored, and nothing changes then. */
  readonly publishHolder: (change: Change) => void;
  /** Stores and publishes the end of a lease, which is a fact: never throws, tries until it is stored. */
  readonly publishEnd: (change: Change) => void;
  /** Calls back after so many milliseconds; answers how to call it off. */
  readonly schedule: (milliseconds: number, callback: () => void) => () => void;
}

export class ControllerLease {
  readonly #options: ControllerLeaseOptions;
  #lease: Lease | null = null;
  #cancelExpiry: () => void = () => undefined;

  constructor(options: ControllerLeaseOptions) {
    this.#options = options;
  }

  get state(): ControllerState | null {
    const lease = this.#current();
    if (lease === null) return null;
    const remainingMs = Math.max(0, Math.ceil(lease.expiresAt - this.#options.monotonicNow()));
    return { connectionId: lease.connectionId, clientName: lease.clientName, remainingMs };
  }

  /** Takes or renews it. 0 asks for the default; other lengths are moved to the nearest bound. */
  acquire(caller: Holder, leaseMs: number, takeOver: boolean): ControllerState {
    const before = this.#current();
    const isRenewal = before?.connectionId === caller.connectionId;
    if (before !== null && !isRenewal && !takeOver) throw this.#busy();
    const length = leaseMs === 0 ? LEASE_MS_DEFAULT : Math.min(Math.max(leaseMs, LEASE_MS_MIN), LEASE_MS_MAX);
    const { connectionId, clientName } = caller;
    const state: ControllerState = { connectionId, clientName, remainingMs: length };
    if (!isRenewal) {
      const reason = before === null ? 'acquired' : 'taken-over';
      this.#options.publishHolder({ kind: 'controller-changed', controller: state, reason });
    }
    this.#lease = { connectionId, clientName, expiresAt: this.#options.monotonicNow() + length };
    this.#watchExpiry(length);
    return state;
  }

  /** false when this connection does not hold it. */
  release(connectionId: ConnectionId, reason: 'released' | 'disconnected'): boolean {
    if (this.#current()?.connectionId !== connectionId) return false;
    this.#end(reason);
    return true;
  }

  /**
   * Whether a request that changes something may begin. `brief`: also when nobody holds the lease.
   * @throws FailureError: controller-required, or controller-busy when somebody else holds it.
   */
  admit(connectionId: ConnectionId, brief: boolean): void {
    const lease = this.#current();
    if (lease?.connectionId === connectionId) return;
    if (lease !== null && brief) throw this.#busy();
    if (lease === null && brief) return;
    throw new FailureError('controller-required');
  }

  #watchExpiry(milliseconds: number): void {
    this.#cancelExpiry();
    this.#cancelExpiry = this.#options.schedule(milliseconds, () => {
      const lease = this.#current();
      // Timers may come a little early.
      if (lease !== null)
        this.#watchExpiry(Math.max(1, Math.ceil(lease.expiresAt - this.#options.monotonicNow())));
    });
  }

  /** The lease while it holds; its end is published by whoever notices it first. */
  #current(): Lease | null {
    const lease = this.#lease;
    if (lease === null || lease.expiresAt > this.#options.monotonicNow()) return lease;
    this.#end('expired');
    return null;
  }

  #end(reason: Change['reason']): void {
    this.#lease = null;
    this.#cancelExpiry();
    this.#options.publishEnd({ kind: 'controller-changed', controller: null, reason });
  }

  #busy(): FailureError {
    const holder = this.state;
    return new FailureError(
      'controller-busy',
      holder === null
        ? {}
        : {
            connectionId: holder.connectionId,
            clientName: holder.clientName,
            remainingMs: holder.remainingMs,
          },
    );
  }
}
