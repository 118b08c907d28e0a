// What is left to do for removed sessions: their files, and a word to the keeper that may still hold them. Noted in the same
// transaction as the removal, so a crash in between forgets nothing, and nothing is deleted that was not removed.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { SessionId } from '@roost/protocol';
import type { KeeperPool } from '../keepers/keeper-pool.ts';
import type { Log } from '@roost/storage';
import type { Store } from '../store/store.ts';

const Removal = z.object({ session_id: SessionId, keeper_id: z.string().nullable() });

export class Removals {
  readonly #store: Store;
  readonly #keepers: Pick<KeeperPool, 'get'>;
  readonly #sessionsDirectory: string;
  readonly #log: Log;
  #running: Promise<void> = Promise.resolve();

  constructor(options: {
    store: Store;
    keepers: Pick<KeeperPool, 'get'>;
    sessionsDirectory: string;
    log: Log;
  }) {
    this.#store = options.store;
    this.#keepers = options.keepers;
    this.#sessionsDirectory = options.sessionsDirectory;
    this.#log = options.log;
  }

  /** Does what can be done now; what a keeper out of reach may hold stays noted. */
  clean(): Promise<void> {
    this.#running = this.#running
      .then(() => this.#cleanAll())
      .catch((error: unknown) => this.#log.warn({ err: error }, 'removed sessions are not yet cleaned up'));
    return this.#running;
  }

  async #cleanAll(): Promise<void> {
    const done: string[] = [];
    for (const value of this.#store.sql.all('SELECT session_id, keeper_id FROM removals WHERE discard = 0')) {
      const { session_id: sessionId, keeper_id: keeperId } = Removal.parse(value);
      try {
        if (await this.#cleanOne(sessionId, keeperId)) done.push(sessionId);
      } catch (error) {
        // It stays noted; the others do not wait for it.
        this.#log.warn({ sessionId, err: error }, 'a removed session is not yet cleaned up');
      }
    }
    if (done.length === 0) return;
    this.#store.transact(({ sql }) => {
      for (const sessionId of done) sql.run('DELETE FROM removals WHERE session_id = ?', sessionId);
    });
  }

  /** false: its keeper is out of reach and may still hold it. */
  async #cleanOne(sessionId: string, keeperId: string | null): Promise<boolean> {
    const link = this.#keepers.get(keeperId);
    if (link !== null) {
      if (!link.isConnected) return false;
      if (link.children.has(sessionId)) await link.release(sessionId);
    }
    await rm(join(this.#sessionsDirectory, sessionId), { recursive: true, force: true });
    return true;
  }
}

export function removedSessions(store: Store): Set<string> {
  return new Set(
    store.sql.all('SELECT session_id, keeper_id FROM removals').map((row) => Removal.parse(row).session_id),
  );
}
