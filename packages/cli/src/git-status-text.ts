/** The status of a repository for people: where it is, then a line for each changed file. */
import type { GitChange, GitRepositoryStatus, GitStatusEntry } from '@roost/protocol';
import type { Palette } from './paint.ts';
import { printable } from './printable.ts';

/** Digits of a commit id that are shown. */
const COMMIT_DIGITS_SHOWN = 10;

export function shortCommit(id: string): string {
  return id.slice(0, COMMIT_DIGITS_SHOWN);
}

/** As `git status --short` has them. */
export const CHANGE_LETTERS: Readonly<Record<GitChange, string>> = {
  unmodified: ' ',
  modified: 'M',
  'type-changed': 'T',
  added: 'A',
  deleted: 'D',
  renamed: 'R',
  copied: 'C',
  untracked: '?',
  conflicted: 'U',
};

export function statusLines(status: GitRepositoryStatus, palette: Palette): string[] {
  return [headLine(status, palette), ...status.entries.map((entry) => entryLine(entry, palette))];
}

function headLine(status: GitRepositoryStatus, palette: Palette): string {
  const { branch, commit, upstream, operation, hasWorkingTree } = status;
  const where = branch === null ? 'detached' : `on ${palette.strong(printable(branch))}`;
  const parts = [
    commit === null ? `${where}, no commit yet` : `${where} at ${shortCommit(commit)}`,
    ...(upstream === null ? [] : [distance(upstream)]),
    ...(operation === null ? [] : [palette.warn(`in the middle of: ${operation}`)]),
    ...(hasWorkingTree ? [] : ['no working tree']),
  ];
  return parts.join(', ');
}

function distance({ branch, ahead, behind }: NonNullable<GitRepositoryStatus['upstream']>): string {
  const name = printable(branch);
  if (ahead === null || behind === null) return `${name} is gone`;
  if (ahead === 0 && behind === 0) return `same as ${name}`;
  return `${ahead} ahead and ${behind} behind ${name}`;
}

function entryLine(entry: GitStatusEntry, palette: Palette): string {
  const { index, worktree, conflict, previousPath, submodule, isDirectory } = entry;
  const letters =
    (conflict === null ? palette.good : palette.bad)(CHANGE_LETTERS[index]) +
    palette.bad(CHANGE_LETTERS[worktree]);
  const facts = [
    ...(previousPath === null ? [] : [`from ${printable(previousPath)}`]),
    ...(conflict === null ? [] : [conflict]),
    ...(submodule === null ? [] : ['submodule']),
  ];
  const path = printable(entry.path) + (isDirectory ? '/' : '');
  return `${letters} ${path}${facts.length === 0 ? '' : palette.faint(` (${facts.join(', ')})`)}`;
}
