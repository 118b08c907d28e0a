// Launches that were given up. The session leaves the table in the transaction that decides it; what runs under its id, or comes to
// run because a keeper had not read the request yet, is ended by force as soon as its keeper can be asked. The note of it goes
// only on proof: the keeper ended and forgot it, never had it, or is gone with everything that carried the session's marker.
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { FailureError, SessionId } from '@roost/protocol';
import { endProcesses, sessionMembers } from '@roost/keeper/processes';
import type { KeeperLink } from '../keepers/keeper-link.ts';
import type { Log } from '@roost/storage';
import { deleteSession, type SessionRow } from '../sessions/session-table.ts';
import type { Store, Transaction } from '../store/store.ts';

/** Milliseconds for a keeper to end a process tree by force. */
const STOP_MS = 30_000;
/** The pid of a root that nobody remembers. */
const NO_PID = -1;
const RETRY_MS_FIRST = 500;
const RETRY_MS_MAX = 10_000;

const Discard = z.object({ session_id: SessionId, keeper_id: z.string().nullable() });
type Discard = z.infer<typeof Discard>;

interface DiscardsOptions {
  readonly store: Store;
  readonly log: Log;
  /** Nothing more comes of this session. */
  readonly ended: (sessionId: SessionId) => void;
}

export class Discards {
  readonly #options: DiscardsOptions;
  readonly #ending = new Map<string, Promise<void>>();
  /** Keepers that died in this start of the node. */
  readonly #dead = new Set<string>();
  /** Sessions of launches that were given up in this start of the node. */
  readonly #added = new Set<string>();
  #closed = false;

  constructor(options: DiscardsOptions) {
    this.#options = options;
  }

  /** Part of the transaction that gives the launch up. */
  add(transaction: Transaction, row: SessionRow): void {
    this.#added.add(row.id);
    deleteSession(transaction, row);
    transaction.sql.run('UPDATE removals SET discard = 1 WHERE session_id = ?', row.id);
    // Nothing else will tell of it any more.
    const { keeper_id: keeperId } = row;
    if (keeperId === null || !this.#dead.has(keeperId)) return;
    setImmediate(() => {
      if (!this.#closed) void this.lostKeeper(keeperId);
    });
  }

  get ids(): Set<string> {
    return new Set(this.#list().map((one) => one.session_id));
  }

  /** The keeper has just told which children it holds. `isAsked`: its answer to a spawn is still to come. */
  connected(link: KeeperLink, isAsked: (sessionId: string) => boolean): void {
    for (const { session_id: id, keeper_id: keeperId } of this.#list()) {
      if (keeperId === link.id && !isAsked(id)) void this.end(link, id);
    }
  }

  /** Ends what runs under the id; resolves when nothing does, or when the keeper cannot be asked any more. */
  end(link: KeeperLink, sessionId: SessionId): Promise<void> {
    const underWay = this.#ending.get(sessionId);
    if (underWay !== undefined) return underWay;
    const work = this.#endUntilProven(link, sessionId).finally(() => this.#ending.delete(sessionId));
    this.#ending.set(sessionId, work);
    return work;
  }

  /** Never rejects, as below: resolves when nothing is left of its launches. */
  lostKeeper(keeperId: string): Promise<void> {
    this.#dead.add(keeperId);
    return this.#endMarkedUntilProven((one) => one.keeper_id === keeperId);
  }

  /** At start: keepers other than these left no trace. Those that are started later are no matter of this. */
  lostAllBut(present: ReadonlySet<string>): Promise<void> {
    return this.#endMarkedUntilProven(
      ({ session_id: id, keeper_id: keeperId }) =>
        !this.#added.has(id) && (keeperId === null || !present.has(keeperId)),
    );
  }

  close(): void {
    this.#closed = true;
  }

  async #endUntilProven(link: KeeperLink, sessionId: SessionId): Promise<void> {
    let pause = RETRY_MS_FIRST;
    while (link.isConnected && !this.#closed) {
      try {
        await this.#endOnce(link, sessionId);
        return;
      } catch (error) {
        this.#options.log.warn(
          { sessionId, err: error },
          'a launch that was given up still runs; trying again',
        );
      }
      await delay(pause, undefined, { ref: false });
      pause = Math.min(pause * 2, RETRY_MS_MAX);
    }
  }

  async #endOnce(link: KeeperLink, sessionId: SessionId): Promise<void> {
    const child = link.children.get(sessionId);
    if (child !== undefined) {
      if (child.exit === null) await stop(link, sessionId);
      await link.release(sessionId);
    }
    if (!this.#closed) this.#prove(sessionId);
  }

  async #endMarkedUntilProven(isOf: (one: Discard) => boolean): Promise<void> {
    let pause = RETRY_MS_FIRST;
    while (!this.#closed) {
      try {
        if (await this.#endMarked(isOf)) return;
      } catch (error) {
        this.#options.log.error(
          { err: error },
          'what launches left behind cannot be looked for; trying again',
        );
      }
      await delay(pause, undefined, { ref: false });
      pause = Math.min(pause * 2, RETRY_MS_MAX);
    }
  }

  /** Without its keeper nothing tells of it but the marker that all its processes carry. false: something is left. */
  async #endMarked(isOf: (one: Discard) => boolean): Promise<boolean> {
    let isProven = true;
    for (const { session_id: id } of this.#list().filter(isOf)) {
      try {
        const find = () => sessionMembers({ rootPid: NO_PID, rootStart: '0', sessionId: id, thorough: true });
        const { survivors } = await endProcesses({ find, graceMs: 0, politeSignals: [] });
        if (this.#closed) return false;
        if (survivors.length === 0) this.#prove(id);
        else isProven = false;
      } catch (error) {
        isProven = false;
        this.#options.log.error(
          { sessionId: id, err: error },
          'what a launch left behind could not be ended; trying again',
        );
      }
    }
    return isProven;
  }

  #prove(sessionId: SessionId): void {
    this.#options.store.transact(({ sql }) => {
      sql.run('UPDATE removals SET discard = 0 WHERE session_id = ?', sessionId);
    });
    this.#options.log.info({ sessionId }, 'nothing is left of a launch that was given up');
    this.#options.ended(sessionId);
  }

  #list(): Discard[] {
    return this.#options.store.sql
      .all('SELECT session_id, keeper_id FROM removals WHERE discard = 1')
      .map((row) => Discard.parse(row));
  }
}

async function stop(link: KeeperLink, sessionId: SessionId): Promise<void> {
  try {
    await link.call('stop', { sessionId, graceMs: 0 }, STOP_MS);
  } catch (error) {
    if (!(error instanceof FailureError) || error.failure.code !== 'unknown-session') throw error;
  }
}
