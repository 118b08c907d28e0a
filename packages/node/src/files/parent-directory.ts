// The directory that holds an entry, once the way to it was walked without following a link.
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';

export interface ParentDirectory extends AsyncDisposable {
  /** Device and inode: the same for whatever way leads here. */
  readonly identity: string;
  /** Permission bits. */
  readonly mode: number;
  /** Where the name is reached: for calls only that follow no link in the last part. */
  at(name: string): string;
  /**
   * Opens a regular file; nothing else is ever opened, so a pipe cannot hold and a device cannot notice us.
   * @throws PathFault: missing, unsafe (a link), not-regular, failed.
   */
  openFile(name: string, access: FileAccess): Promise<RegularFile>;
  /** @throws PathFault unsafe when the directory is no longer where it was found. */
  requireInPlace(): Promise<void>;
  /** After a change. @throws PathFault unsafe when it may have been made elsewhere: only where no descriptor holds the place. */
  confirmPlace(): Promise<void>;
  /** Makes names that were added or changed durable, as far as the file system can. */
  sync(): Promise<void>;
}

/** replace: it must be writable as well, though it is never written in place. */
export type FileAccess = 'read' | 'replace';

export interface RegularFile extends AsyncDisposable {
  readonly handle: FileHandle;
  readonly stats: BigIntStats;
}

/** Walks from the canonical root through the directories. @throws PathFault. */
export type OpenParent = (root: string, directories: readonly string[]) => Promise<ParentDirectory>;

export function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}
