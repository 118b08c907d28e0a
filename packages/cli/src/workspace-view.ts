/** What is shown of workspaces: as one line, and whole. */
import type {
  GitCut,
  GitStatus,
  GitStatusEntry,
  GitUnknownReason,
  InspectedGit,
  TreeCut,
  TreeEntry,
  WorkspaceGit,
  WorkspaceTree,
} from '@roost/protocol';
import { CHANGE_LETTERS, shortCommit } from './git-status-text.ts';
import type { Palette } from './paint.ts';
import { printable } from './printable.ts';

/** `main 2 changed, 1 untracked`. */
export function describeWorkspaceGit(git: WorkspaceGit | null): string {
  if (git === null) return '-';
  const { branch, head, changed, untracked, truncated } = git;
  const place = branch ?? (head === null ? '-' : shortCommit(head));
  const plus = truncated ? '+' : '';
  const parts = [
    ...(changed > 0 ? [`${changed}${plus} changed`] : []),
    ...(untracked > 0 ? [`${untracked}${plus} untracked`] : []),
  ];
  return [place, parts.join(', ') || 'clean'].join(' ');
}

const TREE_CUTS: Readonly<Record<TreeCut, string>> = {
  depth: 'deeper directories are not shown',
  entries: 'there are more entries than are shown',
  visits: 'there are more entries than the node looks at',
  time: 'the time was over',
  unreadable: 'something could not be read',
  names: 'names that are no text are not shown',
};

const GIT_CUTS: Readonly<Record<GitCut['why'], string>> = {
  time: 'git did not answer in time',
  entries: 'there are more',
  failed: 'git could not tell',
};

const UNKNOWN: Readonly<Record<GitUnknownReason, string>> = {
  'git-timed-out': 'git did not answer in time',
  'git-failed': 'git could not tell; the node log has the details',
  'git-not-installed': 'the node finds no git',
  'git-ownership-refused': 'git refuses a repository of another user',
};

/** What is missing, in sentences: of the tree, then of what git says. */
export function describeCuts(tree: WorkspaceTree, git: InspectedGit | null): string[] {
  return [
    ...tree.cuts.map((cut) => `tree: ${TREE_CUTS[cut]}`),
    ...(git?.status.kind === 'repository' && git.status.entriesCut ? ['status: there are more entries'] : []),
    ...(git?.cuts ?? []).map(({ of, why }) => `${of}: ${GIT_CUTS[why]}`),
  ];
}

/** The tree as indented lines, down to a depth. */
export function treeLines(entries: readonly TreeEntry[], depth: number, palette: Palette): string[] {
  return inTreeOrder(entries)
    .filter(({ path }) => path.split('/').length <= depth)
    .map(({ path, kind, skipped }) => {
      const parts = path.split('/');
      const name = printable(parts.at(-1) ?? '');
      const shown = kind === 'directory' ? palette.strong(`${name}/`) : name;
      const note = skipped
        ? ' (not looked into)'
        : kind === 'link'
          ? ' (link)'
          : kind === 'other'
            ? ' (special)'
            : '';
      return `${'  '.repeat(parts.length - 1)}${shown}${palette.faint(note)}`;
    });
}

/** Each directory before what is in it, and that before its next neighbour: not the order of the whole paths as bytes. */
function inTreeOrder(entries: readonly TreeEntry[]): TreeEntry[] {
  const keyed = entries.map((entry) => ({ entry, key: Buffer.from(entry.path.replaceAll('/', '\0')) }));
  return keyed.sort((a, b) => Buffer.compare(a.key, b.key)).map(({ entry }) => entry);
}

/** What git says, as sections apart by empty lines. */
export function gitLines({ status, commits, worktrees }: InspectedGit, palette: Palette): string[] {
  if (status.kind === 'not-a-repository') return ['no git repository'];
  return [
    ...statusLines(status, palette),
    ...section(
      'recent commits',
      commits.map(({ id, subject }) => `${palette.warn(shortCommit(id))} ${printable(subject)}`),
    ),
    ...section(
      'worktrees',
      worktrees.map(({ path, branch, isBare, workspaceId, locked, prunable }) => {
        const place = branch ?? (isBare ? 'bare' : 'detached');
        const marks = [workspaceId, locked === null ? null : 'locked', prunable === null ? null : 'gone'];
        return printable([path, place, ...marks.filter((mark) => mark !== null)].join('  '));
      }),
    ),
  ];
}

function statusLines(status: Exclude<GitStatus, { kind: 'not-a-repository' }>, palette: Palette): string[] {
  if (status.kind === 'unknown') return [`git: ${UNKNOWN[status.reason]}`];
  const { branch, commit, operation, entries, entriesCut, unnameable } = status;
  const isClean = entries.length === 0 && !entriesCut && unnameable === 0 && operation === null;
  const title = [
    palette.strong(printable(branch ?? 'detached')),
    ...(commit === null ? ['no commits yet'] : [shortCommit(commit)]),
    ...(operation === null ? [] : [palette.bad(`in the middle of: ${operation}`)]),
    ...(isClean ? ['clean'] : []),
  ].join(' ');
  return [
    title,
    ...section(
      '',
      entries.map((entry) => entryLine(entry, palette)),
    ),
  ];
}

function entryLine({ index, worktree, path, previousPath, isDirectory }: GitStatusEntry, palette: Palette) {
  const from = previousPath === null ? '' : `${printable(previousPath)} -> `;
  const letters = palette.good(CHANGE_LETTERS[index]) + palette.bad(CHANGE_LETTERS[worktree]);
  return `${letters} ${from}${printable(path)}${isDirectory ? '/' : ''}`;
}

function section(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  return ['', ...(title === '' ? [] : [title]), ...lines.map((line) => `  ${line}`)];
}
