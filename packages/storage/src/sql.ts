// The one place that talks to libsql: prepared statements are kept, answers are `unknown` until a schema parsed them, and every error
// leaves as a failure of the closed list, or as itself when it is a mistake of ours.
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';
import { FailureError } from '@roost/protocol';
import { systemErrorCode } from './system-error.ts';

export type SqlValue = string | number | null;

/** Milliseconds that a statement waits for another process that holds the file, such as a backup. */
const BUSY_MS = 2_000;
/** Free bytes below which an I/O error is taken for a full disk: SQLite reports some of those as plain I/O errors. */
const FULL_BELOW_BYTES = 256 * 1024;

export class Sql {
  readonly path: string;
  readonly #database: Database.Database;
  readonly #statements = new Map<string, Database.Statement<SqlValue[]>>();

  constructor(path: string) {
    this.path = path;
    this.#database = new Database(path, { timeout: BUSY_MS });
  }

  /** Runs statements without parameters or answer. */
  exec(text: string): void {
    this.#guard(() => this.#database.exec(text));
  }

  all(text: string, ...values: SqlValue[]): unknown[] {
    return this.#guard(() => this.#statement(text).all(...values));
  }

  get(text: string, ...values: SqlValue[]): unknown {
    // `all` finishes the statement; a half-read one would hold its snapshot and keep the log from being folded in.
    return this.all(text, ...values)[0];
  }

  run(text: string, ...values: SqlValue[]): { readonly changes: number; readonly lastId: number } {
    const { changes, lastInsertRowid } = this.#guard(() => this.#statement(text).run(...values));
    return { changes, lastId: Number(lastInsertRowid) };
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #statement(text: string): Database.Statement<SqlValue[]> {
    let statement = this.#statements.get(text);
    if (statement === undefined) {
      statement = this.#database.prepare<SqlValue[]>(text);
      this.#statements.set(text, statement);
    }
    return statement;
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      throw storageFailure(this.path, cause) ?? cause;
    }
  }
}

/** null: no failure of the storage. */
export function storageFailure(path: string, cause: unknown): FailureError | null {
  const code = systemErrorCode(cause) ?? '';
  if (/^(SQLITE_FULL|ENOSPC|EDQUOT)$/.test(code)) return new FailureError('storage-full', {}, { cause });
  if (/^SQLITE_(IOERR|CANTOPEN)/.test(code))
    return new FailureError(diskIsFull(path) ? 'storage-full' : 'storage-failed', {}, { cause });
  if (/^SQLITE_(READONLY|CORRUPT|NOTADB|BUSY|LOCKED|PERM)/.test(code) || /^(EIO|EROFS|EACCES)$/.test(code))
    return new FailureError('storage-failed', {}, { cause });
  return null;
}

function diskIsFull(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < FULL_BELOW_BYTES;
  } catch {
    return false;
  }
}
