// Memory for bodies that are being read or worked on, of all requests together. A body is known by its announced length, or counts as long as
// it may be.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { FailureError } from '@roost/protocol';

/** Bytes: some of the longest, or many of the usual ones. */
const BODIES_BYTES_MAX = 160 * 1024 * 1024;

export class BodyBudget {
  #taken = 0;

  /** Until the answer is out or the connection is gone. @throws FailureError: backend-busy. */
  take(request: IncomingMessage, response: ServerResponse, bodyLimit: number): void {
    const bytes = announced(request, bodyLimit);
    if (bytes === 0) return;
    if (this.#taken + bytes > BODIES_BYTES_MAX) throw new FailureError('backend-busy');
    this.#taken += bytes;
    response.once('close', () => (this.#taken -= bytes));
  }
}

function announced({ headers }: IncomingMessage, bodyLimit: number): number {
  if (headers['transfer-encoding'] !== undefined) return bodyLimit;
  return Math.min(Number(headers['content-length'] ?? 0), bodyLimit);
}
