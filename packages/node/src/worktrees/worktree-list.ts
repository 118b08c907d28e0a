// What `git worktree list --porcelain` tells, in both of its forms. Pure: bytes in, entries out, or null for what is no such list.

/** One entry of `git worktree list --porcelain`. */
export interface WorktreeEntry {
  /** As git wrote it down when it was made: absolute. */
  readonly path: string;
  /** Full id of the commit; null in a bare repository and before the first commit. */
  readonly head: string | null;
  /** Without `refs/heads/`; null when detached. */
  readonly branch: string | null;
  /** The first of the list: what all others belong to. */
  readonly isMain: boolean;
  readonly isBare: boolean;
  /** Why, '' when no reason was given; null when it is not locked. */
  readonly locked: string | null;
  /** Why git would prune it; null when it would not. */
  readonly prunable: string | null;
}

/** Worktrees of one repository that are told. */
export const WORKTREES_MAX = 512;
/** Bytes of a path: what Linux takes at most. */
export const WORKTREE_PATH_BYTES_MAX = 4_096;

/** The form of `-z`: fields end with NUL, records with an empty field. null: too many, or not understood. */
export function parseNulList(bytes: Buffer): WorktreeEntry[] | null {
  const text = decode(bytes);
  if (text === null) return null;
  if (text === '') return [];
  if (!text.endsWith('\0')) return null;
  const records: string[][] = [[]];
  for (const field of text.slice(0, -1).split('\0')) {
    if (field === '') records.push([]);
    else records.at(-1)?.push(field);
  }
  return entriesOf(records);
}

/** The form of lines, of a git older than 2.36: blocks apart by empty lines, texts C-quoted where they need it. */
export function parseLineList(bytes: Buffer): WorktreeEntry[] | null {
  const records: string[][] = [[]];
  for (const line of bytes.toString('latin1').split('\n')) {
    if (line === '') {
      records.push([]);
      continue;
    }
    const space = line.indexOf(' ');
    const value = space === -1 ? '' : unquote(line.slice(space + 1));
    const text = value === null ? null : decode(Buffer.from(value, 'latin1'));
    if (text === null) return null;
    records.at(-1)?.push(space === -1 ? line : `${line.slice(0, space)} ${text}`);
  }
  return entriesOf(records);
}

function entriesOf(records: readonly (readonly string[])[]): WorktreeEntry[] | null {
  const full = records.filter((fields) => fields.length > 0);
  if (full.length > WORKTREES_MAX) return null;
  const entries: WorktreeEntry[] = [];
  for (const [index, fields] of full.entries()) {
    const value = (name: string): string | null => {
      const field = fields.find((one) => one === name || one.startsWith(`${name} `));
      return field === undefined ? null : field.slice(name.length + 1);
    };
    const path = value('worktree');
    // A record without a path names nothing that could be worked with; it still counts for who is first.
    if (path === null) continue;
    if (!path.startsWith('/') || Buffer.byteLength(path) > WORKTREE_PATH_BYTES_MAX) return null;
    const head = value('HEAD');
    entries.push({
      path,
      head: head === null || /^0+$/.test(head) ? null : head,
      branch: value('branch')?.replace(/^refs\/heads\//, '') ?? null,
      isMain: index === 0,
      isBare: value('bare') !== null,
      locked: value('locked'),
      prunable: value('prunable'),
    });
  }
  return entries;
}

const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** null for what is no UTF-8: a path that cannot be told cannot be compared either. */
function decode(bytes: Buffer): string | null {
  try {
    return DECODER.decode(bytes);
  } catch {
    return null;
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '"': '"',
  '\\': '\\',
};

/** Undoes git's C-quoting; text without quotes is as it is. null: not quoted as git does. */
function unquote(text: string): string | null {
  if (!text.startsWith('"')) return text;
  if (text.length < 2 || !text.endsWith('"')) return null;
  const inner = text.slice(1, -1);
  if (!/^(?:[^\\]|\\[0-7]{1,3}|\\[abfnrtv"\\])*$/.test(inner)) return null;
  return inner.replace(/\\([0-7]{1,3}|[^])/g, (_, what: string) =>
    /^[0-7]/.test(what) ? String.fromCharCode(parseInt(what, 8) & 0xff) : (ESCAPES[what] ?? what),
  );
}
