// One node per state directory: an empty SQLite file with an exclusive transaction held for the process's life. The
// kernel frees it when the process dies, however it dies; a stopped process keeps it. The file is never unlinked, and never
// opened any other way while held: closing another descriptor of it would drop the lock of the whole process.
import { truncateSync } from 'node:fs';
import Database from 'libsql';
import { FailureError } from '@roost/protocol';
import { systemErrorCode } from '@roost/storage';

export interface HomeLock {
  release(): void;
}

export function acquireHomeLock(path: string): HomeLock {
  try {
    return take(path);
  } catch (error) {
    // Not a database: then nobody holds it as one. It has no content to lose.
    if (systemErrorCode(error) !== 'SQLITE_NOTADB') throw refusal(path, error);
  }
  try {
    truncateSync(path);
    return take(path);
  } catch (error) {
    throw refusal(path, error);
  }
}

function take(path: string): HomeLock {
  const database = new Database(path, { timeout: 0 });
  // Without a journal file: taking the lock must not need room on the disk.
  database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;');
  return {
    // The handle itself closes only when it is collected; the rollback is what frees the lock.
    release: () => {
      database.exec('ROLLBACK');
      database.close();
    },
  };
}

function refusal(path: string, cause: unknown): FailureError {
  const code = systemErrorCode(cause) ?? '';
  if (code.startsWith('SQLITE_BUSY')) return new FailureError('node-already-running', { path }, { cause });
  if (code === 'SQLITE_FULL' || code === 'ENOSPC')
    return new FailureError('storage-full', { path }, { cause });
  return new FailureError('home-unusable', { path, reason: 'the lock file cannot be opened' }, { cause });
}
