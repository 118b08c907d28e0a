// Bytes of requests that travel in parts and are not whole yet: one bound for all clients of a hub.
import { LONG_REQUESTS_BYTES_MAX } from '@roost/protocol';

export class PartedBudget {
  #taken = 0;

  /** False when they are not there. */
  take(bytes: number): boolean {
    if (this.#taken + bytes > LONG_REQUESTS_BYTES_MAX) return false;
    this.#taken += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#taken -= bytes;
  }
}
