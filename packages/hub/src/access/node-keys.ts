// The keys of the nodes: a file each, readable by its owner alone, whole or not there. No key is in the database, a log or a failure.
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { FailureError, NodeId } from '@roost/protocol';
import { parseToken, roleOf, type Token } from '@roost/protocol/node';
import { storageFailure, syncDirectory, systemErrorCode } from '@roost/storage';

/** Bytes that are read; a token has 79 characters. */
const KEY_FILE_BYTES_MAX = 256;
const OTHERS_MASK = 0o077;

export class NodeKeys {
  readonly #directory: string;

  /** `home`: the hub's directory. @throws FailureError: home-unusable, storage-full. */
  constructor(home: string) {
    this.#directory = join(home, 'nodes');
    try {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
      if ((statSync(this.#directory).mode & OTHERS_MASK) !== 0) chmodSync(this.#directory, 0o700);
    } catch (cause) {
      throw this.#failure(this.#directory, 'the directory of the keys cannot be used', cause);
    }
  }

  /** In place of the one before, if there is one. @throws FailureError: home-unusable, storage-full. */
  write(nodeId: NodeId, key: Token): void {
    const path = this.#pathOf(nodeId);
    const partial = `${path}.new`;
    try {
      rmSync(partial, { force: true });
      const file = openSync(partial, 'wx', 0o600);
      try {
        writeSync(file, `${key}\n`);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      renameSync(partial, path);
      syncDirectory(this.#directory);
    } catch (cause) {
      rmSync(partial, { force: true });
      throw this.#failure(path, 'the key cannot be written', cause);
    }
  }

  /** null when there is none. @throws FailureError: home-unusable, for a file that nobody should rely on. */
  read(nodeId: NodeId): Token | null {
    const path = this.#pathOf(nodeId);
    let file: number;
    try {
      file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (cause) {
      if (systemErrorCode(cause) === 'ENOENT') return null;
      throw this.#failure(path, 'the key cannot be read', cause);
    }
    try {
      const facts = fstatSync(file);
      if (!facts.isFile()) throw this.#failure(path, 'the key is not a file');
      if (process.getuid !== undefined && facts.uid !== process.getuid())
        throw this.#failure(path, 'the key belongs to another user');
      if ((facts.mode & OTHERS_MASK) !== 0) throw this.#failure(path, 'others can read the key');
      const bytes = Buffer.alloc(KEY_FILE_BYTES_MAX);
      const key = parseToken(bytes.toString('latin1', 0, readSync(file, bytes)));
      if (key === null || roleOf(key) !== 'operator') throw this.#failure(path, 'there is no key in it');
      return key;
    } finally {
      closeSync(file);
    }
  }

  /** Does nothing when there is none. */
  remove(nodeId: NodeId): void {
    this.#remove(nodeId);
  }

  /** At a start: removes what was left by an enrolment or a removal that was cut off. */
  keepOnly(enrolled: ReadonlySet<NodeId>): void {
    const kept: ReadonlySet<string> = enrolled;
    for (const name of readdirSync(this.#directory)) {
      const isOurs = NodeId.safeParse(name.replace(/\.new$/, '')).success;
      if (isOurs && !kept.has(name)) this.#remove(name);
    }
  }

  #remove(name: string): void {
    const path = join(this.#directory, name);
    try {
      rmSync(path, { force: true });
      syncDirectory(this.#directory);
    } catch (cause) {
      throw this.#failure(path, 'the key cannot be removed', cause);
    }
  }

  #pathOf(nodeId: NodeId): string {
    return join(this.#directory, nodeId);
  }

  #failure(path: string, reason: string, cause?: unknown): FailureError {
    const failure = storageFailure(path, cause);
    if (failure?.failure.code === 'storage-full') return failure;
    return new FailureError('home-unusable', { path, reason }, { cause });
  }
}

/** `hex`: 64 hexadecimal digits, as `nodes.enrol` has them. @throws FailureError: invalid-request. */
export function nodeKey(hex: string): Token {
  const key = parseToken(`roost_operator_${hex}`);
  if (key === null) throw new FailureError('invalid-request', { field: 'key' });
  return key;
}
