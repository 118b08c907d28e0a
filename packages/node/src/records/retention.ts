// Records that can never run again go after a while, if the configuration says so. Never one that can be resumed, never one with a
// run; a few at a time, so that nothing waits for it.
import type { RecordId } from '@roost/protocol';
import type { Log } from '@roost/storage';
import type { Store } from '../store/store.ts';
import type { RecordRow } from './record-table.ts';
import { findRecord, listRecords } from './record-table.ts';
import { removeRecord } from './remove-record.ts';

const SWEEP_INTERVAL_MS = 300_000;
/** Records that go in one transaction. */
const BATCH = 8;

/** 0 turns a rule off. With both, a record goes only when both say so. */
export interface RetentionPolicy {
  /** Milliseconds without a change after which a record may go. */
  readonly retainMs: number;
  /** Newest records of a workspace that stay. */
  readonly keepPerWorkspace: number;
}

type Candidate = Pick<RecordRow, 'id' | 'workspace_id' | 'state' | 'active_session_id' | 'updated_at'>;

interface Retirement {
  readonly recordId: RecordId;
  readonly updatedAt: number;
  readonly reason: 'age' | 'keep-n' | 'age+keep-n';
}

export function planRetention(
  records: readonly Candidate[],
  { retainMs, keepPerWorkspace }: RetentionPolicy,
  now: number,
): Retirement[] {
  const byAge = retainMs > 0;
  const byCount = keepPerWorkspace > 0;
  if (!byAge && !byCount) return [];
  const reason = byAge && byCount ? 'age+keep-n' : byAge ? 'age' : 'keep-n';
  const workspaces = new Map<string, Candidate[]>();
  for (const record of records) {
    if (record.state !== 'unavailable' || record.active_session_id !== null) continue;
    const group = workspaces.get(record.workspace_id);
    if (group === undefined) workspaces.set(record.workspace_id, [record]);
    else group.push(record);
  }
  return [...workspaces.values()].flatMap((group) =>
    group
      .sort((a, b) => b.updated_at - a.updated_at || (a.id < b.id ? -1 : 1))
      .filter((record, index) => {
        const isOld = now - record.updated_at >= retainMs;
        const isBeyond = index >= keepPerWorkspace;
        return (!byAge || isOld) && (!byCount || isBeyond);
      })
      .map((record) => ({ recordId: record.id, updatedAt: record.updated_at, reason })),
  );
}

export class RecordRetention {
  readonly #store: Store;
  readonly #policy: RetentionPolicy;
  readonly #log: Log;
  /** Called when sessions went with their records: their files may go. */
  readonly #onRemoved: () => void;
  #timer: NodeJS.Timeout | null = null;
  #sweeping: Promise<void> | null = null;
  #closed = false;
  #retired = 0;

  constructor(options: { store: Store; policy: RetentionPolicy; log: Log; onRemoved: () => void }) {
    this.#store = options.store;
    this.#policy = options.policy;
    this.#log = options.log;
    this.#onRemoved = options.onRemoved;
  }

  /** Records that went since this start of the node. */
  get retired(): number {
    return this.#retired;
  }

  /** Sweeps now, and then again and again. */
  start(): void {
    void this.sweep();
    this.#timer = setInterval(() => void this.sweep(), SWEEP_INTERVAL_MS);
    this.#timer.unref();
  }

  /** Ends with the sweep that runs, if one does. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#sweeping;
  }

  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep().finally(() => (this.#sweeping = null));
    return this.#sweeping;
  }

  async #sweep(): Promise<void> {
    const { retainMs, keepPerWorkspace } = this.#policy;
    if (this.#closed || (retainMs === 0 && keepPerWorkspace === 0)) return;
    let gone = 0;
    try {
      const retirements = planRetention(listRecords(this.#store.sql), this.#policy, Date.now());
      for (let from = 0; from < retirements.length; from += BATCH) {
        await new Promise((resolve) => setImmediate(resolve));
        if (this.#isClosed()) return;
        gone += this.#retire(retirements.slice(from, from + BATCH));
      }
    } catch (error) {
      this.#log.warn({ err: error }, 'old records could not be forgotten');
    }
    if (gone > 0) this.#onRemoved();
  }

  /** Asked anew after each wait. */
  #isClosed(): boolean {
    return this.#closed;
  }

  #retire(batch: readonly Retirement[]): number {
    const gone = this.#store.transact((transaction) =>
      batch.filter(({ recordId, updatedAt }) => {
        const record = findRecord(transaction.sql, recordId);
        // Whatever happened to it since makes it another case.
        if (record?.state !== 'unavailable' || record.updated_at !== updatedAt) return false;
        removeRecord(transaction, record);
        return true;
      }),
    );
    this.#retired += gone.length;
    for (const { recordId, reason } of gone)
      this.#log.info({ recordId, reason }, 'an old record is forgotten');
    return gone.length;
  }
}
