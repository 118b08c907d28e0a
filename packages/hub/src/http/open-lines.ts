// Everything that stays open for longer than an answer: event streams and WebSockets. Each belongs to whoever opened it, and ends when what
// they came with ends. Nobody holds more than their part.
import { FailureError } from '@roost/protocol';
import type { Principal } from '../access/principal.ts';

/** Of everybody together, and of one credential: a person has some windows open, a program some nodes. */
const LINES_MAX = 4_096;
export const LINES_OF_ONE_MAX = 256;

export interface Line {
  readonly principal: Principal;
  /** Ends it because its principal may not have it any more, or the hub stops. */
  readonly end: (why: 'unauthenticated' | 'shutting-down') => void;
  /** Ends it when nobody reads it. */
  readonly check?: () => void;
}

export class OpenLines {
  readonly #lines = new Set<Line>();
  readonly #ofOne = new Map<string, number>();

  get count(): number {
    return this.#lines.size;
  }

  /** Before anything is opened. @throws FailureError: connections-exhausted. */
  requirePlace(principal: Principal): void {
    const own = this.#ofOne.get(keyOf(principal)) ?? 0;
    if (this.#lines.size >= LINES_MAX || own >= LINES_OF_ONE_MAX)
      throw new FailureError('connections-exhausted', { limit: LINES_OF_ONE_MAX });
  }

  /** Answers how to say that it is closed. */
  add(line: Line): () => void {
    const key = keyOf(line.principal);
    this.#lines.add(line);
    this.#ofOne.set(key, (this.#ofOne.get(key) ?? 0) + 1);
    return () => {
      if (!this.#lines.delete(line)) return;
      const left = (this.#ofOne.get(key) ?? 1) - 1;
      if (left === 0) this.#ofOne.delete(key);
      else this.#ofOne.set(key, left);
    };
  }

  /** Ends those of principals that are not good any more. */
  endWhere(isOver: (principal: Principal) => boolean): void {
    for (const line of [...this.#lines]) if (isOver(line.principal)) line.end('unauthenticated');
  }

  check(): void {
    for (const line of [...this.#lines]) line.check?.();
  }

  endAll(): void {
    for (const line of [...this.#lines]) line.end('shutting-down');
  }
}

function keyOf({ credential }: Principal): string {
  return credential.kind === 'socket' ? 'socket' : `${credential.kind} ${credential.id}`;
}
