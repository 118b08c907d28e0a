/** Failures that time heals, and how long to wait before the next attempt. */
import { FailureError } from '@roost/protocol';

/** Milliseconds between attempts; doubles up to the second. */
const RETRY_MS = { first: 50, last: 2_000 } as const;

/** Whether trying again can help. `connection-lost`: what was asked may have been done. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof FailureError)) return false;
  switch (error.failure.code) {
    case 'node-not-running':
    case 'node-unresponsive':
    case 'connection-lost':
    case 'connections-exhausted':
    case 'shutting-down':
    case 'hub-not-running':
    case 'hub-unreachable':
    case 'node-offline':
    case 'backend-busy':
    case 'rate-limited':
      return true;
    default:
      return false;
  }
}

/**
 * Opens connections one after the other. Failures are only waited out once there was a connection: before that, nothing tells a node that
 * is away from an address that is wrong.
 */
export class Reconnecting<Connection> {
  readonly #connect: (signal: AbortSignal) => Promise<Connection>;
  #wasConnected = false;

  constructor(connect: (signal: AbortSignal) => Promise<Connection>) {
    this.#connect = connect;
  }

  /** null: not now, or the signal aborted. @throws what time does not heal, and whatever the first attempt fails with. */
  async attempt(signal: AbortSignal): Promise<Connection | null> {
    try {
      const connection = await this.#connect(signal);
      this.#wasConnected = true;
      return connection;
    } catch (error) {
      if (signal.aborted || (this.#wasConnected && isPassing(error))) return null;
      throw error;
    }
  }
}

/** Grows with each wait until it is reset. */
export class RetryPause {
  readonly #signal: AbortSignal | undefined;
  #milliseconds: number = RETRY_MS.first;

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  reset(): void {
    this.#milliseconds = RETRY_MS.first;
  }

  /** Ends early, without an error, when the signal aborts. */
  async wait(atMost = Infinity): Promise<void> {
    const milliseconds = Math.min(this.#milliseconds, atMost);
    this.#milliseconds = Math.min(this.#milliseconds * 2, RETRY_MS.last);
    await pauseFor(milliseconds, this.#signal);
  }
}

function pauseFor(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener('abort', done, { once: true });
  });
}
