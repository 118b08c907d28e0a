// One hub per directory: an empty SQLite file with an exclusive transaction held for the process's life. The kernel frees it when the process
// dies, however it dies. The file is never unlinked, and never opened any other way while held: closing another descriptor of it would drop
// the lock of the whole process.
import Database from 'libsql';
import { FailureError } from '@roost/protocol';
import { systemErrorCode } from '@roost/storage';

export interface HomeLock {
  release(): void;
}

/** @throws FailureError: hub-already-running, storage-full, home-unusable. */
export function acquireHomeLock(path: string): HomeLock {
  try {
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
  } catch (cause) {
    const code = systemErrorCode(cause) ?? '';
    if (code.startsWith('SQLITE_BUSY')) throw new FailureError('hub-already-running', { path }, { cause });
    if (code === 'SQLITE_FULL' || code === 'ENOSPC')
      throw new FailureError('storage-full', { path }, { cause });
    throw new FailureError('home-unusable', { path, reason: 'the lock file cannot be opened' }, { cause });
  }
}
