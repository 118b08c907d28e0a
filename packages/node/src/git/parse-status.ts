// Reads `git status --porcelain=v2 --branch -z`. Records that are not understood are counted, never repaired.
import {
  GIT_STATUS_ENTRIES_MAX,
  GitObjectId,
  type GitChange,
  type GitConflict,
  type GitRepositoryStatus,
  type GitStatusEntry,
} from '@roost/protocol';
import { pathInside, strictText } from './repository-names.ts';

export type ParsedStatus = Pick<
  GitRepositoryStatus,
  'branch' | 'commit' | 'upstream' | 'entries' | 'entriesCut' | 'unnameable'
> & {
  /** The workspace itself is one untracked directory: its files are not told. */
  readonly isUntracked: boolean;
};

const CHANGES: Readonly<Record<string, GitChange>> = {
  '.': 'unmodified',
  M: 'modified',
  T: 'type-changed',
  A: 'added',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
};

const CONFLICTS: Readonly<Record<string, GitConflict>> = {
  DD: 'both-deleted',
  AU: 'added-by-us',
  UD: 'deleted-by-them',
  UA: 'added-by-them',
  DU: 'deleted-by-us',
  AA: 'both-added',
  UU: 'both-modified',
};

/** Fields apart by single blanks before the path, of each kind of record. */
const FIELDS_BEFORE_PATH: Readonly<Record<string, number>> = { '1': 8, '2': 9, u: 10 };

/**
 * `prefix`: where the workspace lies from the repository's top, with a slash at its end; empty at the top. `isCut`: the bytes end
 * early, in the middle of a record perhaps.
 */
export function parseStatus(bytes: Buffer, prefix: Buffer, isCut: boolean): ParsedStatus {
  const parsed = {
    branch: null as string | null,
    commit: null as GitObjectId | null,
    upstream: null as GitRepositoryStatus['upstream'],
    entries: [] as GitStatusEntry[],
    entriesCut: isCut,
    unnameable: 0,
    isUntracked: false,
  };
  const records = recordsOf(bytes);
  for (let next = records.next(); next.done !== true; next = records.next()) {
    const record = next.value;
    if (record[0] === HASH) {
      readHeader(record.toString('utf8'), parsed);
      continue;
    }
    // A rename has its other path in the record after it, whatever becomes of the entry.
    const previous = record[0] === TWO ? records.next() : null;
    if (previous?.done === true) {
      parsed.entriesCut = true;
      break;
    }
    if (isUntrackedPath(record) && record.subarray(2).equals(prefix)) {
      parsed.isUntracked = true;
      continue;
    }
    if (parsed.entries.length >= GIT_STATUS_ENTRIES_MAX) {
      parsed.entriesCut = true;
      break;
    }
    const entry = readEntry(record, previous?.value ?? null, prefix);
    if (entry === null) parsed.unnameable += 1;
    else parsed.entries.push(entry);
  }
  return parsed;
}

const [HASH, TWO, QUESTION, SPACE, SLASH] = [0x23, 0x32, 0x3f, 0x20, 0x2f];

/** Complete records only: each ends in NUL. */
function* recordsOf(bytes: Buffer): Generator<Buffer, void> {
  let from = 0;
  for (let at = bytes.indexOf(0); at >= 0; at = bytes.indexOf(0, from)) {
    yield bytes.subarray(from, at);
    from = at + 1;
  }
}

function readHeader(text: string, parsed: Pick<MutableHead, 'branch' | 'commit' | 'upstream'>): void {
  const [, name = '', value = ''] = /^# (branch\.\w+) (.*)$/s.exec(text) ?? [];
  switch (name) {
    case 'branch.oid': {
      const id = GitObjectId.safeParse(value);
      parsed.commit = id.success ? id.data : null;
      break;
    }
    case 'branch.head':
      parsed.branch = value === '(detached)' ? null : value;
      break;
    case 'branch.upstream':
      parsed.upstream = { branch: value, ahead: null, behind: null };
      break;
    case 'branch.ab': {
      const [, ahead, behind] = /^\+(\d+) -(\d+)$/.exec(value) ?? [];
      if (parsed.upstream !== null && ahead !== undefined && behind !== undefined) {
        parsed.upstream = { ...parsed.upstream, ahead: Number(ahead), behind: Number(behind) };
      }
      break;
    }
    default:
      break;
  }
}

interface MutableHead {
  branch: string | null;
  commit: GitObjectId | null;
  upstream: GitRepositoryStatus['upstream'];
}

function isUntrackedPath(record: Buffer): boolean {
  return record[0] === QUESTION && record[1] === SPACE;
}

function readEntry(record: Buffer, previous: Buffer | null, prefix: Buffer): GitStatusEntry | null {
  if (isUntrackedPath(record)) return untracked(record.subarray(2), prefix);
  const kind = strictText(record.subarray(0, 1)) ?? '';
  const count = FIELDS_BEFORE_PATH[kind];
  if (count === undefined) return null;
  const [fields, path] = splitFields(record, count);
  const [, states = '', submodule = ''] = fields;
  const inside = path === null ? null : pathInside(path, prefix);
  if (inside === null) return null;
  const common = {
    path: inside,
    previousPath: previous === null ? null : pathInside(previous, prefix),
    submodule: submodule.startsWith('S') ? { commitChanged: submodule[1] === 'C' } : null,
    isDirectory: false,
  };
  if (kind === 'u') {
    const conflict = CONFLICTS[states];
    return conflict === undefined
      ? null
      : { ...common, index: 'conflicted', worktree: 'conflicted', conflict };
  }
  const [index, worktree] = [CHANGES[states[0] ?? ''], CHANGES[states[1] ?? '']];
  return index === undefined || worktree === undefined || states.length !== 2
    ? null
    : { ...common, index, worktree, conflict: null };
}

function untracked(path: Buffer, prefix: Buffer): GitStatusEntry | null {
  const isDirectory = path.at(-1) === SLASH;
  const inside = pathInside(isDirectory ? path.subarray(0, -1) : path, prefix);
  if (inside === null) return null;
  return {
    path: inside,
    previousPath: null,
    index: 'untracked',
    worktree: 'untracked',
    conflict: null,
    submodule: null,
    isDirectory,
  };
}

/** The first fields as text, and what follows them; null when there are not as many. */
function splitFields(record: Buffer, count: number): [string[], Buffer | null] {
  const fields: string[] = [];
  let from = 0;
  while (fields.length < count) {
    const at = record.indexOf(SPACE, from);
    if (at < 0) return [fields, null];
    fields.push(record.toString('latin1', from, at));
    from = at + 1;
  }
  return [fields, record.subarray(from)];
}
