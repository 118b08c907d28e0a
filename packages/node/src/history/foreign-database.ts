// The database in which a provider keeps its sessions: looked at without following links, and open for no longer than a question takes.
import { lstat, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { HistoryDatabase, HistoryPlace } from '@roost/providers';
import * as z from 'zod';
import { ForeignSql } from '../store/foreign-sql.ts';
import { faultBelow, isSameState, NotBelow, openDirectoryBelow, stateOf, type FileState } from './below.ts';

export const DatabaseRow = z.looseObject({ id: z.string() });

export interface DatabaseFiles {
  readonly database: FileState;
  /** The log beside it; null: none. */
  readonly log: FileState | null;
}

/** It has other tables than the ones that are known. */
export class OtherFormat extends NotBelow {
  constructor() {
    super('unreadable');
    this.name = 'OtherFormat';
  }
}

/**
 * Opens it for as long as the work takes. @throws NotBelow: OtherFormat, or unreadable when it is locked or damaged.
 */
export async function withDatabase<Outcome>(
  history: HistoryDatabase,
  place: HistoryPlace,
  work: (sql: ForeignSql) => Promise<Outcome>,
): Promise<Outcome> {
  const { log } = await filesOf(place);
  const path = join(await realpath(place.base), ...place.below);
  let sql: ForeignSql | undefined;
  try {
    sql = new ForeignSql(path, log === null || log.size === 0);
    if (!sql.hasTables(history.tables)) throw new OtherFormat();
    return await work(sql);
  } catch (error) {
    if (error instanceof NotBelow) throw error;
    throw new NotBelow('unreadable', { cause: error });
  } finally {
    sql?.close();
  }
}

/**
 * Both are looked at without following links: the library itself would follow them. Nothing is opened: to close a file again would
 * give up the locks that this process has on it.
 */
export async function filesOf({ base, below }: HistoryPlace): Promise<DatabaseFiles> {
  const directory = await openDirectoryBelow({ base, below: below.slice(0, -1) });
  const name = below.at(-1) ?? '';
  try {
    const database = await fileState(directory.pathOf(name));
    if (database === null) throw new NotBelow('missing');
    await fileState(directory.pathOf(`${name}-shm`));
    return { database, log: await fileState(directory.pathOf(`${name}-wal`)) };
  } finally {
    await directory.close();
  }
}

async function fileState(path: string): Promise<FileState | null> {
  try {
    const stats = await lstat(path);
    if (!stats.isFile()) throw new NotBelow('link');
    return stateOf(stats);
  } catch (error) {
    const fault = faultBelow(error);
    if (fault.fault === 'missing') return null;
    throw fault;
  }
}

export function isSameFiles(one: DatabaseFiles, other: DatabaseFiles): boolean {
  if (!isSameState(one.database, other.database)) return false;
  if (one.log === null || other.log === null) return one.log === other.log;
  return isSameState(one.log, other.log);
}
