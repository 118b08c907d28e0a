import { randomBytes } from 'node:crypto';

/** Milliseconds within which a ticket must be used. */
const TICKET_MS = 30_000;
/** Tickets outstanding at once; the oldest is withdrawn. */
const TICKETS_MAX = 1_024;

export interface Grant {
  readonly sessionId: string;
  readonly mode: 'drive' | 'watch';
  /** Whose it is; null from a node that does not tell. */
  readonly clientName: string | null;
}

/** One-time secrets by which the node lets a client attach. */
export class Tickets {
  readonly #now: () => number;
  readonly #grants = new Map<string, Grant & { expiresAt: number }>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  issue(grant: Grant): { ticket: string; expiresInMs: number } {
    for (const [ticket, { expiresAt }] of this.#grants) {
      if (expiresAt > this.#now() && this.#grants.size < TICKETS_MAX) break;
      this.#grants.delete(ticket);
    }
    const ticket = randomBytes(24).toString('base64url');
    this.#grants.set(ticket, { ...grant, expiresAt: this.#now() + TICKET_MS });
    return { ticket, expiresInMs: TICKET_MS };
  }

  /** The grant, once; null for what is unknown, used or expired. */
  redeem(ticket: string): Grant | null {
    const grant = this.#grants.get(ticket);
    this.#grants.delete(ticket);
    return grant !== undefined && grant.expiresAt > this.#now() ? grant : null;
  }
}
