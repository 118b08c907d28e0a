// Reads what `git diff --raw --numstat --patch -z` writes: raw records, then numbers of lines, both NUL-separated, then an empty
// record, then the text of the difference.
import { GIT_DIFF_FILES_MAX, type GitDiff, type GitDiffFile } from '@roost/protocol';
import { pathInside } from './repository-names.ts';

export type ParsedDiff = Pick<GitDiff, 'files' | 'filesCut' | 'unnameable'> & {
  /** Still bytes: how much of it is shown is for others to say. */
  readonly patch: Buffer;
  /** A file may be listed that differs in nothing but its times: git looked no further at it than that. */
  readonly mayListUnchanged: boolean;
};

const STATUSES: Readonly<Record<string, GitDiffFile['status']>> = {
  A: 'added',
  M: 'modified',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
  T: 'type-changed',
  U: 'conflicted',
};

/** Bytes of all paths together: the answer is one frame. */
const PATHS_BYTES_MAX = 512 * 1024;
const NOWHERE = Buffer.alloc(0);
const NO_FILE = '000000';
const BINARY_DIFFER = '\nBinary files ';
const ABSENT = { additions: null, deletions: null };

/** `isCut`: the bytes end early, in the middle of a record perhaps. Paths come relative to the workspace already. */
export function parseDiff(bytes: Buffer, isCut: boolean): ParsedDiff {
  const reader = new NulReader(bytes);
  const raw = readRaw(reader);
  const counts = readCounts(reader);
  const files = new Map<string, GitDiffFile>();
  let unnameable = 0;
  let pathBytes = 0;
  let filesCut = isCut && !reader.isAtText;
  for (const { key, previous, ...change } of raw) {
    const path = pathInside(key, NOWHERE);
    const previousPath = previous === null ? null : pathInside(previous, NOWHERE);
    if (path === null || (previous !== null && previousPath === null)) {
      unnameable += 1;
      continue;
    }
    pathBytes += key.length + (previous?.length ?? 0);
    if (files.size >= GIT_DIFF_FILES_MAX || pathBytes > PATHS_BYTES_MAX) {
      filesCut = true;
      break;
    }
    const count = counts.get(key.toString('latin1')) ?? { ...ABSENT, binary: false };
    // An unmerged path stands in the list once more, with what is in the working tree.
    const status = files.get(path)?.status === 'conflicted' ? 'conflicted' : change.status;
    files.set(path, { path, previousPath, ...change, status, ...count });
  }
  const patch = reader.rest();
  return {
    files: [...files.values()],
    filesCut,
    unnameable,
    patch,
    mayListUnchanged:
      (isCut && !reader.isAtText) || hasUncounted(raw, counts) || binaryTexts(patch) < binaries(counts),
  };
}

/** Of a text that is the same on both sides, git counts no lines. */
function hasUncounted(raw: readonly RawChange[], counts: ReadonlyMap<string, Count>): boolean {
  return raw.some(
    ({ key, status, previousMode, mode }) =>
      status === 'modified' && previousMode === mode && !counts.has(key.toString('latin1')),
  );
}

function binaries(counts: ReadonlyMap<string, Count>): number {
  return [...counts.values()].filter(({ binary }) => binary).length;
}

/** Lines of the text that say that binary files differ: no line of a file's content starts like that. */
function binaryTexts(patch: Buffer): number {
  let found = 0;
  for (let at = patch.indexOf(BINARY_DIFFER); at >= 0; at = patch.indexOf(BINARY_DIFFER, at + 1)) found += 1;
  return found;
}

interface RawChange extends Pick<GitDiffFile, 'status' | 'previousMode' | 'mode'> {
  readonly key: Buffer;
  readonly previous: Buffer | null;
}

function readRaw(reader: NulReader): RawChange[] {
  const changes: RawChange[] = [];
  while (reader.startsWith(':')) {
    const head = reader.take()?.toString('latin1') ?? '';
    const [previousMode = '', mode = '', , , letter = ''] = head.slice(1).split(' ');
    const first = reader.take();
    const second = /^[RC]/.test(letter) ? reader.take() : undefined;
    if (first === null || second === null) break;
    const status = STATUSES[letter[0] ?? ''];
    if (status === undefined) continue;
    changes.push({
      key: second ?? first,
      previous: second === undefined ? null : first,
      status,
      previousMode: previousMode === NO_FILE ? null : previousMode,
      mode: mode === NO_FILE ? null : mode,
    });
  }
  return changes;
}

type Count = Pick<GitDiffFile, 'additions' | 'deletions' | 'binary'>;

function readCounts(reader: NulReader): Map<string, Count> {
  const counts = new Map<string, Count>();
  for (;;) {
    const record = reader.take();
    if (record === null) return counts;
    if (record.length === 0) {
      reader.isAtText = true;
      return counts;
    }
    const [, additions, deletions, path = ''] =
      /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(record.toString('latin1')) ?? [];
    if (additions === undefined || deletions === undefined) return counts;
    let key = path;
    if (path === '') {
      // A rename: where from, where to.
      const [from, to] = [reader.take(), reader.take()];
      if (from === null || to === null) return counts;
      key = to.toString('latin1');
    }
    const binary = additions === '-';
    counts.set(key, {
      binary,
      ...(binary ? ABSENT : { additions: Number(additions), deletions: Number(deletions) }),
    });
  }
}

class NulReader {
  readonly #bytes: Buffer;
  #at = 0;
  /** Everything before the text was read. */
  isAtText = false;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  startsWith(text: string): boolean {
    return this.#bytes[this.#at] === text.charCodeAt(0);
  }

  /** The next complete record; null when there is none. */
  take(): Buffer | null {
    const end = this.#bytes.indexOf(0, this.#at);
    if (end < 0) return null;
    const record = this.#bytes.subarray(this.#at, end);
    this.#at = end + 1;
    return record;
  }

  rest(): Buffer {
    return this.isAtText ? this.#bytes.subarray(this.#at) : Buffer.alloc(0);
  }
}
