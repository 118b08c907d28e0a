// From a directory that its person chose down to what a provider keeps below it: never through a link, and nothing but regular files
// is opened.
import { constants } from 'node:fs';
import { open, realpath, type FileHandle } from 'node:fs/promises';
import type { HistoryPlace } from '@roost/providers';
import { systemErrorCode } from '@roost/storage';
import { OpenDirectory } from '../workspaces/open-directory.ts';

/** link: a link, pipe, device or file stands in the way. missing: there is nothing. unreadable: it is there. */
export type BelowFault = 'link' | 'missing' | 'unreadable';

export class NotBelow extends Error {
  readonly fault: BelowFault;

  constructor(fault: BelowFault, options: { cause?: unknown } = {}) {
    super(fault, options);
    this.name = 'NotBelow';
    this.fault = fault;
  }
}

/** A system's error as what it means on the way down. */
export function faultBelow(error: unknown): NotBelow {
  if (error instanceof NotBelow) return error;
  switch (systemErrorCode(error)) {
    case 'ENOENT':
      return new NotBelow('missing', { cause: error });
    // ENXIO: a socket.
    case 'ELOOP':
    case 'ENOTDIR':
    case 'ENXIO':
      return new NotBelow('link', { cause: error });
    default:
      return new NotBelow('unreadable', { cause: error });
  }
}

/** To be closed by the caller. @throws NotBelow. */
export async function openDirectoryBelow({ base, below }: HistoryPlace): Promise<OpenDirectory> {
  try {
    let directory = await OpenDirectory.open(await realpath(base));
    for (const name of below) {
      const parent = directory;
      try {
        directory = await parent.openChild(name);
      } finally {
        await parent.close();
      }
    }
    return directory;
  } catch (error) {
    throw faultBelow(error);
  }
}

/** What a file is, as long as it is that very file in that very state. */
export interface FileState {
  readonly device: number;
  readonly node: number;
  readonly size: number;
  /** Milliseconds since 1970, with fractions. */
  readonly modifiedAt: number;
}

export function stateOf(stats: { dev: number; ino: number; size: number; mtimeMs: number }): FileState {
  return { device: stats.dev, node: stats.ino, size: stats.size, modifiedAt: stats.mtimeMs };
}

export function isSameState(one: FileState, other: FileState): boolean {
  return isSameFile(one, other) && one.size === other.size && one.modifiedAt === other.modifiedAt;
}

function isSameFile(one: FileState, other: FileState): boolean {
  return one.device === other.device && one.node === other.node;
}

export class OpenFile implements AsyncDisposable {
  readonly state: FileState;
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle, state: FileState) {
    this.#handle = handle;
    this.state = state;
  }

  /** @throws NotBelow. */
  static async in(directory: OpenDirectory, name: string): Promise<OpenFile> {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    let handle: FileHandle | undefined;
    try {
      // Without waiting: a pipe must not hold the node.
      handle = await open(directory.pathOf(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      const stats = await handle.stat();
      if (!stats.isFile()) throw new NotBelow('link');
      return new OpenFile(handle, stateOf(stats));
    } catch (error) {
      await handle?.close();
      throw faultBelow(error);
    }
  }

  /** @throws NotBelow. */
  static async below({ base, below }: HistoryPlace): Promise<OpenFile> {
    const directory = await openDirectoryBelow({ base, below: below.slice(0, -1) });
    try {
      return await OpenFile.in(directory, below.at(-1) ?? '');
    } finally {
      await directory.close();
    }
  }

  /** Fewer bytes than asked for only at the end. @throws NotBelow. */
  async bytes(position: number, length: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(length);
    let filled = 0;
    try {
      for (let read = -1; read !== 0 && filled < length; filled += read) {
        ({ bytesRead: read } = await this.#handle.read(buffer, filled, length - filled, position + filled));
      }
    } catch (error) {
      throw faultBelow(error);
    }
    return buffer.subarray(0, filled);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#handle.close();
  }
}
