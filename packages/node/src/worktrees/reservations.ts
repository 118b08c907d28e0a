// Directories that are being made into worktrees, or removed: no session starts in them and no workspace is registered there until
// that is over. Held in memory by the act itself; everything is synchronous, so that nothing fits between look and hold.
import { isAbsolute } from 'node:path';
import { FailureError } from '@roost/protocol';
import { isWithin } from './worktree-target.ts';

export class Reservations {
  readonly #held = new Set<string>();

  /**
   * Holds a canonical directory with everything in it. Whoever takes one to remove it looks for sessions there afterwards, in the
   * same turn of the event loop. Answers how to give it back, once.
   * @throws FailureError: worktree-changing when it, or a part or a whole of it, is held.
   */
  take(directory: string): () => void {
    if (!isAbsolute(directory)) throw new Error('a reservation is of an absolute path');
    for (const held of this.#held) {
      if (isWithin(directory, held) || isWithin(held, directory)) throw changing();
    }
    this.#held.add(directory);
    let given = false;
    return () => {
      if (!given) this.#held.delete(directory);
      given = true;
    };
  }

  /** @throws FailureError: worktree-changing when the directory is, or lies in, a held one. */
  requireFree(directory: string): void {
    for (const held of this.#held) if (isWithin(directory, held)) throw changing();
  }
}

function changing(): FailureError {
  return new FailureError('worktree-changing');
}
