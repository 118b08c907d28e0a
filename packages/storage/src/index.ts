/** What the programs that keep a directory of their own have in common: their database, and their log. */
export { openLog, type Log } from './log.ts';
export { foldLog, openDatabase, type DatabaseKind } from './open-database.ts';
export { Sql, storageFailure, type SqlValue } from './sql.ts';
export { syncDirectory } from './sync-directory.ts';
export { systemErrorCode } from './system-error.ts';
