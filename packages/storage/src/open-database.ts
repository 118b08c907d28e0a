// Opens a database, or refuses and leaves every byte as it is. A new one is built beside its final name and renamed when it is
// whole, so an empty or partial file under that name is always damage, never a first start. Nobody but its owner can read it.
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod';
import { FailureError } from '@roost/protocol';
import { Sql, storageFailure } from './sql.ts';
import { syncDirectory } from './sync-directory.ts';
import { systemErrorCode } from './system-error.ts';
import { isLogPlausible } from './write-ahead-log.ts';

const MAGIC = 'SQLite format 3\0';
const OTHERS_MASK = 0o077;
/** Bytes up to which the whole file is checked at every start (about 0.2 s). */
const CHECK_ALWAYS_BYTES = 64 * 1024 * 1024;

export interface DatabaseKind {
  /** 32 bits that say whose an SQLite file is. */
  readonly applicationId: number;
  /** The statements that make each version of its tables of the one before. Added to, never changed. */
  readonly migrations: readonly string[];
  /** A larger file of which this is true is not checked. */
  readonly wasClosedCleanly?: (sql: Sql) => boolean;
}

/** A new one is made where there is none. @throws FailureError: database-corrupt, database-too-new, home-unusable, storage-full, storage-failed. */
export function openDatabase(path: string, kind: DatabaseKind): Sql {
  if (!existsSync(path)) createDatabase(path, kind);
  checkFile(path);
  if (!isLogPlausible(`${path}-wal`)) throw new FailureError('database-corrupt', { path: `${path}-wal` });
  try {
    // Not closed when it is refused: that would fold its log in.
    const sql = new Sql(path);
    checkDatabase(sql, kind);
    sql.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;');
    migrate(sql, kind);
    foldLog(sql);
    return sql;
  } catch (cause) {
    throw openingFailure(path, cause);
  }
}

/** Puts what was committed into the file itself, out of the log beside it. */
export function foldLog(sql: Sql): void {
  try {
    sql.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // A full disk: the log stays, and is folded in later.
  }
}

function createDatabase(path: string, kind: DatabaseKind): void {
  const fresh = `${path}.new`;
  try {
    for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(fresh + suffix, { force: true });
    // SQLite gives its other files the permissions of this one.
    closeSync(openSync(fresh, 'wx', 0o600));
    const sql = new Sql(fresh);
    sql.exec(
      `PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; PRAGMA application_id = ${kind.applicationId};`,
    );
    migrate(sql, kind);
    sql.close();
    // The leftovers of a database that lies elsewhere now must not be taken for this one's.
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
    renameSync(fresh, path);
    syncDirectory(dirname(path));
  } catch (cause) {
    throw openingFailure(path, cause);
  }
}

function checkFile(path: string): void {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    // The files beside it get its permissions when they are made, and keep those that they have.
    for (const file of [path, `${path}-wal`, `${path}-shm`])
      if (existsSync(file) && (statSync(file).mode & OTHERS_MASK) !== 0) chmodSync(file, 0o600);
  } catch (cause) {
    throw new FailureError('home-unusable', { path, reason: 'the database is not writable' }, { cause });
  }
  const head = Buffer.alloc(MAGIC.length);
  const descriptor = openSync(path, 'r');
  try {
    readSync(descriptor, head, 0, head.length, 0);
  } catch (cause) {
    throw new FailureError('database-corrupt', { path }, { cause });
  } finally {
    closeSync(descriptor);
  }
  if (head.toString('latin1') !== MAGIC) throw new FailureError('database-corrupt', { path });
}

const UserVersion = z.object({ user_version: z.int() });
const ApplicationId = z.object({ application_id: z.int() });
const QuickCheck = z.object({ quick_check: z.string() });

function checkDatabase(sql: Sql, { applicationId, migrations, wasClosedCleanly }: DatabaseKind): void {
  const { user_version: version } = UserVersion.parse(sql.get('PRAGMA user_version'));
  const { application_id: application } = ApplicationId.parse(sql.get('PRAGMA application_id'));
  if (application !== applicationId || version < 1)
    throw new FailureError('database-corrupt', { path: sql.path });
  if (version > migrations.length)
    throw new FailureError('database-too-new', { path: sql.path, version, newest: migrations.length });
  if (statSync(sql.path).size >= CHECK_ALWAYS_BYTES && wasClosedCleanly?.(sql) === true) return;
  const { quick_check: verdict } = QuickCheck.parse(sql.get('PRAGMA quick_check(1)'));
  if (verdict !== 'ok') throw new FailureError('database-corrupt', { path: sql.path });
}

function migrate(sql: Sql, { migrations }: DatabaseKind): void {
  const { user_version: from } = UserVersion.parse(sql.get('PRAGMA user_version'));
  for (const [index, step] of migrations.entries()) {
    if (index < from) continue;
    sql.exec('BEGIN IMMEDIATE');
    try {
      sql.exec(step);
      sql.exec(`PRAGMA user_version = ${index + 1}`);
      sql.exec('COMMIT');
    } catch (error) {
      tryRollback(sql);
      throw error;
    }
  }
}

function tryRollback(sql: Sql): void {
  try {
    sql.exec('ROLLBACK');
  } catch {
    // SQLite rolls back by itself on the worst errors.
  }
}

function openingFailure(path: string, error: unknown): unknown {
  if (error instanceof FailureError) {
    const cause = systemErrorCode(error.cause) ?? '';
    return /^SQLITE_(CORRUPT|NOTADB)/.test(cause)
      ? new FailureError('database-corrupt', { path }, { cause: error })
      : error;
  }
  // What a damaged file makes of our own tables.
  if ((systemErrorCode(error) ?? '').startsWith('SQLITE_ERROR') || error instanceof z.ZodError)
    return new FailureError('database-corrupt', { path }, { cause: error });
  if (error instanceof Error && error.message.includes('ConnectionFailed'))
    return new FailureError(
      'home-unusable',
      { path, reason: 'the database cannot be opened' },
      { cause: error },
    );
  return storageFailure(path, error) ?? error;
}
