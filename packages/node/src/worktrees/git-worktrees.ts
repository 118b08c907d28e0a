// The worktrees of a repository through git itself: made only where nothing was, removed only when nothing is lost, never forced.
// A branch is never deleted. Whoever calls holds the repository's lock; git's own checks stand behind these.
import { mkdir, realpath, rmdir } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { FailureError } from '@roost/protocol';
import { Deadline } from '../deadline.ts';
import { requireBranchName } from '../git/branch-name.ts';
import { CHANGE_MS, GitCalls, inTree, lineOf } from '../git/git-calls.ts';
import { gitFailure, saidBy } from '../git/git-failure.ts';
import type { GitSource } from '../git/run-git.ts';
import { requireFreeBranch } from './free-branch.ts';
import { gathered, keepUnderRecoveryRef } from './recovery-refs.ts';
import { rememberedTips } from './remembered-commits.ts';
import { readContent, requireClean } from './worktree-content.ts';
import { parseLineList, parseNulList, type WorktreeEntry } from './worktree-list.ts';
import {
  administrativeDirectory,
  canonicalTarget,
  findAdministrativeDirectory,
  guarded,
  holdsSubmodules,
  isWithin,
  presence,
  requireNothingInside,
  requireRemovable,
  restorePointer,
} from './worktree-target.ts';

export type { WorktreeEntry } from './worktree-list.ts';

/** Bytes of the list: more than 512 entries of usual length. */
const LIST_BYTES_MAX = 256 * 1024;
const REVISION_BYTES_MAX = 1_024;
/** Commits that get a recovery ref each; more are gathered under one. */
const TIPS_APART_MAX = 8;

/** `create`: a new branch at a commit. `adopt`: an existing branch that no worktree holds. */
export type WorktreeBranch =
  { readonly create: string; readonly commit: string } | { readonly adopt: string };

export interface AddOptions {
  /** Git's process has been started: what is there afterwards tells only once it is gone. */
  readonly started?: (pid: number) => void;
  /** Repository's own directories of worktrees that gave way: the new one gets another name than these. */
  readonly apartFrom?: readonly string[];
}

export interface RemoveOptions {
  /** Which ignored files and directories (as git lists them, relative) may go with the worktree; none unless told. */
  readonly mayDiscard?: (ignored: string) => boolean | Promise<boolean>;
  /** The head that was looked at before; another one now is refused. */
  readonly head?: string | null;
  /** Git's process has been started. */
  readonly started?: (pid: number) => void;
}

export class GitWorktrees {
  readonly #git: GitCalls;

  constructor(source: GitSource) {
    this.#git = new GitCalls(source);
  }

  /** All worktrees of the repository around `root`, the main one first. @throws FailureError: not-git-repository, git-*. */
  async list(root: string, deadline: Deadline): Promise<WorktreeEntry[]> {
    const options = { bytesMax: LIST_BYTES_MAX };
    const command = ['worktree', 'list', '--porcelain'];
    const outcome = await this.#git.look(root, [...command, '-z'], deadline, options);
    // 129: wrong usage. Git knows -z since 2.36.
    const entries =
      outcome.exitCode === 129
        ? parseLineList(await this.#git.read(root, command, deadline, options))
        : outcome.exitCode === 0 && !outcome.truncated
          ? parseNulList(outcome.stdout)
          : null;
    if (entries === null) throw gitFailure(outcome);
    return entries;
  }

  /** @throws FailureError: invalid-request, git-*. */
  requireBranchName(root: string, branch: string, deadline: Deadline): Promise<void> {
    return requireBranchName(this.#git, root, branch, deadline);
  }

  /** Canonical path of what all worktrees of the repository share (usually `.git` of the main one). */
  async commonDirectory(root: string, deadline: Deadline): Promise<string> {
    const told = lineOf(await this.#git.read(root, ['rev-parse', '--git-common-dir'], deadline));
    return realpath(resolve(root, told));
  }

  /** The full id of a commit. @throws FailureError: invalid-revision, git-*. */
  async resolveCommit(root: string, revision: string, deadline: Deadline): Promise<string> {
    const isText = revision !== '' && revision.isWellFormed() && !/\p{Cc}/u.test(revision);
    if (!isText || Buffer.byteLength(revision) > REVISION_BYTES_MAX)
      throw new FailureError('invalid-revision', { revision });
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`];
    const outcome = await this.#git.look(root, args, deadline);
    const id = lineOf(outcome.stdout);
    if (outcome.exitCode === 0 && isObjectId(id)) return id;
    const cause = gitFailure(outcome);
    if (cause.failure.code !== 'git-failed') throw cause;
    throw new FailureError('invalid-revision', { revision }, { cause });
  }

  /**
   * Makes `target`, absent until now, with `git worktree add`, and answers the entry as git lists it then. What fails halfway is
   * left as it is and told.
   * @throws FailureError: invalid-request, worktree-conflict, worktree-protected, branch-exists, invalid-revision,
   * worktree-recovery-required, git-*.
   */
  async add(
    root: string,
    target: string,
    branch: WorktreeBranch,
    deadline: Deadline,
    options: AddOptions = {},
  ): Promise<WorktreeEntry> {
    const within = Deadline.in(Math.min(deadline.remaining(), CHANGE_MS));
    const before = await this.list(root, within);
    const path = await this.#requireFree(root, target, before, within);
    const name = 'create' in branch ? branch.create : branch.adopt;
    await requireBranchName(this.#git, root, name, within);
    const commit = await this.#commitFor(root, branch, before, within);
    const what = 'create' in branch ? ['--no-track', '-b', name, '--', path, commit] : ['--', path, name];
    const giveNames = await holdNames(options.apartFrom ?? []);
    const outcome = await this.#git
      .change(
        root,
        ['-c', 'checkout.guess=false', 'worktree', 'add', '--quiet', '--no-guess-remote', ...what],
        within,
        options,
      )
      .finally(giveNames);
    // How it went is told by what is there, whatever git answered: a hook that failed leaves a whole worktree behind.
    const after = (await this.list(root, lookAgain())).find((entry) => entry.path === path);
    if (after === undefined) {
      if ((await presence(path)) !== 'absent') throw halfway(path, gitFailure(outcome));
      throw addFailure(outcome, name, path);
    }
    const isOurs = after.branch === name && after.head === commit;
    if (outcome.exitCode !== 0 || !isOurs || after.locked !== null) throw halfway(path, gitFailure(outcome));
    return after;
  }

  /**
   * Removes a worktree that holds nothing of its own; its branch stays. Never forced: between the last look and git's own removal
   * lies a moment in which a writer could still add something; git looks once more itself.
   * @throws FailureError: worktree-protected, worktree-locked, worktree-dirty, worktree-recovery-required, git-*.
   */
  async remove(root: string, target: string, deadline: Deadline, options: RemoveOptions = {}): Promise<void> {
    const within = Deadline.in(Math.min(deadline.remaining(), CHANGE_MS));
    const entry = await this.requireClean(root, target, within, options);
    if (options.head !== undefined && options.head !== entry.head) {
      throw new FailureError('worktree-dirty', { path: entry.path, operation: 'commit' });
    }
    const outcome = await this.#git.change(
      root,
      // What git looks for itself must not depend on what the person wants to see.
      ['-c', 'status.showUntrackedFiles=all', 'worktree', 'remove', '--', entry.path],
      within,
      { started: options.started },
    );
    const after = (await this.list(root, lookAgain())).find(({ path }) => path === entry.path);
    const left = await presence(entry.path);
    if (after === undefined && left === 'absent') return;
    const failed = gitFailure(outcome);
    if (after === undefined || left !== 'directory') throw halfway(entry.path, failed);
    throw removeFailure(outcome, entry.path) ?? failed;
  }

  /**
   * The entry, when nothing but its content could speak against its removal. Refusals in this order: not of this repository, main,
   * bare or dangerous; locked; its directory gone or replaced; another worktree inside. `directory` is the repository's own for it.
   * @throws FailureError: worktree-protected, worktree-locked, git-*.
   */
  async identify(
    root: string,
    target: string,
    deadline: Deadline,
  ): Promise<{ entry: WorktreeEntry; directory: string }> {
    const all = await this.list(root, deadline);
    const entry = await this.#requireListed(target, all);
    if (entry.prunable !== null) {
      const isGone = (await presence(entry.path)) === 'absent';
      throw guarded(isGone ? 'directory-gone' : 'replaced', entry.path);
    }
    requireNothingInside(entry, all);
    const directory = await administrativeDirectory(entry.path, await this.commonDirectory(root, deadline));
    if (directory === null) throw guarded('replaced', entry.path);
    return { entry, directory };
  }

  /** The entry, when it could be removed now. @throws FailureError as `identify`, worktree-dirty. */
  async requireClean(
    root: string,
    target: string,
    deadline: Deadline,
    { mayDiscard = () => false }: RemoveOptions = {},
  ): Promise<WorktreeEntry> {
    const { entry, directory } = await this.identify(root, target, deadline);
    await requireClean(this.#git, { path: entry.path, directory }, mayDiscard, deadline);
    return entry;
  }

  /** Commits that only the worktree at the path remembers, also those that its branch's log holds. @throws FailureError: git-*. */
  async remembered(root: string, path: string, deadline: Deadline): Promise<string[]> {
    const common = await this.commonDirectory(root, deadline);
    return rememberedTips(this.#git, root, { path, head: null, branch: null, common }, deadline);
  }

  /** Whether git keeps repositories of submodules for it, which go with its entry. @throws FailureError: git-*. */
  async keepsSubmodules(root: string, path: string, deadline: Deadline): Promise<boolean> {
    return holdsSubmodules(path, await this.commonDirectory(root, deadline));
  }

  /**
   * Removes exactly that entry, whose directory is gone, and no other. Answers the repository's own directory that it had.
   * @throws FailureError: worktree-protected, worktree-locked, worktree-conflict (something is there), worktree-dirty
   * (repositories of submodules are kept in it), git-*.
   */
  async forget(root: string, target: string, deadline: Deadline): Promise<string | null> {
    const entry = await this.#requireListed(target, await this.list(root, deadline));
    if ((await presence(entry.path)) !== 'absent') {
      throw new FailureError('worktree-conflict', { path: entry.path, why: 'path-exists' });
    }
    if (await this.keepsSubmodules(root, entry.path, deadline)) {
      throw new FailureError('worktree-dirty', { path: entry.path, submodules: 1 });
    }
    const common = await this.commonDirectory(root, deadline);
    const directory = await findAdministrativeDirectory(entry.path, common);
    const outcome = await this.#git.change(root, ['worktree', 'remove', '--', entry.path], deadline);
    const left = (await this.list(root, lookAgain())).some(({ path }) => path === entry.path);
    if (left) throw gitFailure(outcome);
    return directory;
  }

  /**
   * Puts back what is missing of a worktree whose removal broke off: its `.git` first, then files that the index knows. What is
   * there is not touched. @throws FailureError: worktree-protected, git-*.
   */
  async restore(root: string, entry: WorktreeEntry, deadline: Deadline): Promise<void> {
    const common = await this.commonDirectory(root, deadline);
    await restorePointer(entry.path, common);
    if ((await administrativeDirectory(entry.path, common)) === null) throw guarded('replaced', entry.path);
    const args = [...inTree(entry.path), 'checkout-index', '--all', '--quiet'];
    const outcome = await this.#git.change(entry.path, args, deadline);
    // Of files that are there it says that it left them, as an error.
    if (outcome.timedOut || outcome.exitCode === null) throw gitFailure(outcome);
  }

  /** Whether it holds anything uncommitted or untracked, as git sees it. @throws FailureError: git-*. */
  async isDirty(path: string, deadline: Deadline): Promise<boolean> {
    const { changed, untracked } = await readContent(this.#git, path, deadline);
    return changed.length + untracked.length > 0;
  }

  /** Whether what stands at the path and the repository name each other. @throws FailureError: git-*. */
  async isProven(root: string, path: string, deadline: Deadline): Promise<boolean> {
    return (await administrativeDirectory(path, await this.commonDirectory(root, deadline))) !== null;
  }

  /**
   * Keeps what would be reachable from nowhere once the worktree is gone: its head, and commits that only the worktree remembers,
   * many of them under one ref. Answers the refs. @throws FailureError: git-*.
   */
  async keepCommits(root: string, entry: WorktreeEntry, deadline: Deadline): Promise<string[]> {
    const name = entry.branch ?? basename(entry.path);
    const common = await this.commonDirectory(root, deadline);
    const heads = entry.head === null ? [] : [entry.head];
    const tips = await rememberedTips(this.#git, root, { ...entry, common }, deadline);
    const kept = tips.length > TIPS_APART_MAX ? [await gathered(this.#git, root, tips, deadline)] : tips;
    const refs: string[] = [];
    for (const head of [...heads, ...kept]) {
      const ref = await this.keepReachable(root, head, name, deadline);
      if (ref !== null) refs.push(ref);
    }
    return refs;
  }

  /**
   * Commits of `head` that no ref reaches get `refs/roost/recovered/<name>` (with a number when that is taken), which is
   * answered; null when refs reach every one of them. An existing ref is never moved.
   * @throws FailureError: git-*.
   */
  keepReachable(root: string, head: string, name: string, deadline: Deadline): Promise<string | null> {
    return keepUnderRecoveryRef(this.#git, root, { head, name }, deadline);
  }

  async #requireListed(target: string, all: readonly WorktreeEntry[]): Promise<WorktreeEntry> {
    const path = (await canonicalTarget(target)) ?? target;
    const entry = all.find((one) => one.path === path);
    if (entry === undefined) throw guarded('not-listed', target);
    await requireRemovable(entry, all, this.#git.home);
    if (entry.locked !== null) {
      throw new FailureError('worktree-locked', { path: entry.path, reason: entry.locked });
    }
    return entry;
  }

  /** The canonical path at which a worktree may be made. */
  async #requireFree(
    root: string,
    target: string,
    all: readonly WorktreeEntry[],
    deadline: Deadline,
  ): Promise<string> {
    const path = await canonicalTarget(target);
    if (path === null) throw new FailureError('worktree-conflict', { path: target, why: 'no-parent' });
    if ((await presence(path)) !== 'absent') {
      throw new FailureError('worktree-conflict', { path, why: 'path-exists' });
    }
    if (all.some((entry) => entry.path === path)) {
      throw new FailureError('worktree-conflict', { path, why: 'still-listed' });
    }
    const common = await this.commonDirectory(root, deadline);
    if (isWithin(path, common) || path.split('/').includes('.git')) throw guarded('inside-git', path);
    const around = all
      .filter((entry) => !entry.isBare && isWithin(path, entry.path))
      .sort((a, b) => b.path.length - a.path.length)[0];
    if (around !== undefined) {
      // It would stand in that worktree's way as something untracked.
      // This one command takes no pathspec as literal; an absolute path has no magic.
      const args = ['--no-literal-pathspecs', 'check-ignore', '-q', '--', `${path}/`];
      const ignored = await this.#git.look(around.path, args, deadline);
      if (ignored.exitCode !== 0) throw guarded('inside-worktree', path);
    }
    return path;
  }

  /** The commit at which the new worktree has to stand. */
  async #commitFor(
    root: string,
    branch: WorktreeBranch,
    all: readonly WorktreeEntry[],
    deadline: Deadline,
  ): Promise<string> {
    if ('create' in branch) {
      if (!isObjectId(branch.commit)) throw new FailureError('invalid-revision', { revision: branch.commit });
      await requireFreeBranch(this.#git, root, branch.create, all, deadline);
      return this.resolveCommit(root, branch.commit, deadline);
    }
    const holder = all.find((entry) => entry.branch === branch.adopt);
    if (holder !== undefined) {
      throw new FailureError('branch-exists', {
        branch: branch.adopt,
        heldBy: holder.path,
        choices: ['other-name'],
      });
    }
    return this.resolveCommit(root, `refs/heads/${branch.adopt}`, deadline);
  }
}

/** Milliseconds for the look at what a change left, even when its own time is over. */
const LOOK_MS = 10_000;
const lookAgain = () => Deadline.in(LOOK_MS);

/**
 * Keeps git from giving names anew: a worktree that was moved, not deleted, still names its directory in the repository, and would
 * become a second way into the one that is made now. Left by a crash, an empty directory there means nothing to git.
 */
async function holdNames(directories: readonly string[]): Promise<() => Promise<void>> {
  for (const directory of directories) await mkdir(directory, { recursive: true });
  return async () => {
    for (const directory of directories) await rmdir(directory).catch(() => undefined);
  };
}

function isObjectId(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

function halfway(path: string, cause: FailureError): FailureError {
  return new FailureError('worktree-recovery-required', { path }, { cause });
}

type Outcome = Parameters<typeof gitFailure>[0];

function addFailure(outcome: Outcome, branch: string, path: string): FailureError {
  const said = saidBy(outcome).toLowerCase();
  const cause = gitFailure(outcome);
  // Somebody was quicker than our look.
  if (/a branch named .* already exists|already checked out|already used by worktree/.test(said)) {
    return new FailureError('branch-exists', { branch, choices: ['other-name'] }, { cause });
  }
  if (said.includes('already exists')) return new FailureError('worktree-conflict', { path }, { cause });
  return cause;
}

function removeFailure(outcome: Outcome, path: string): FailureError | null {
  const said = saidBy(outcome).toLowerCase();
  const cause = gitFailure(outcome);
  if (said.includes('locked working tree')) return new FailureError('worktree-locked', { path }, { cause });
  if (said.includes('contains modified or untracked files') || said.includes('submodules')) {
    return new FailureError('worktree-dirty', { path }, { cause });
  }
  return null;
}
