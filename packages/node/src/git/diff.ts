// What changed, between two states of a repository. Git compares; nothing that the repository names is run, and nothing in it is written.
import {
  FailureError,
  GIT_PATCH_BYTES_MAX,
  GitObjectId,
  type GitDiff,
  type GitDiffTarget,
  type RepositoryPath,
} from '@roost/protocol';
import type { Deadline } from '../deadline.ts';
import { gitFailure } from './git-failure.ts';
import { readHead } from './head-commit.ts';
import { inRepository, type KnownRepository } from './known-repository.ts';
import { parseDiff, type ParsedDiff } from './parse-diff.ts';
import { findCommit, type Repository } from './repository.ts';
import { runGit, type GitCommand, type GitSetting, type GitSource } from './run-git.ts';
import { ScratchIndex } from './scratch-index.ts';

export interface DiffRequest {
  readonly what: GitDiffTarget;
  /** Only this file or directory. */
  readonly path: RepositoryPath | null;
}

/** Bytes of git's answer: lists of files and the text. */
const OUTPUT_BYTES_MAX = 3 * 1024 * 1024;

/** Ids that git said are commits: whatever becomes of them, they are never anything else. */
const knownCommits = new Set<GitObjectId>();
const KNOWN_COMMITS_MAX = 1_000;

/** The same answer whatever the configuration says of showing differences. */
const SHOWING = [
  '--raw',
  '--numstat',
  '--patch',
  '-z',
  '--relative',
  '--find-copies',
  '--unified=3',
  '--inter-hunk-context=0',
  '--diff-algorithm=default',
  '--src-prefix=a/',
  '--dst-prefix=b/',
  '--no-color',
  '--word-diff=none',
  '--ws-error-highlight=none',
  '-O/dev/null',
  '--no-ext-diff',
  '--no-textconv',
  // A submodule is its commit; what is in it is not looked at.
  '--submodule=short',
  '--ignore-submodules=dirty',
];

/** Outside of any repository `git diff` would compare two paths. There it does not know this option, which changes nothing here. */
const IN_REPOSITORY = '--full-history';

const SETTINGS = [
  { name: 'diff.suppressBlankEmpty', value: 'false' },
  // Larger files count as binary: git holds what it compares in memory.
  { name: 'core.bigFileThreshold', value: '64m' },
  // The copy is one file.
  { name: 'core.splitIndex', value: 'false' },
];

/**
 * Git writes nothing then, and needs no copy of the index, which is a quarter of the time in a large repository. But it lists
 * files that were only touched too.
 */
const UNREFRESHED: GitSetting = { name: 'diff.autoRefreshIndex', value: 'false' };

/** @throws FailureError: git-*, not-git-repository, no-working-tree, invalid-revision. */
export async function readGitDiff(
  source: GitSource,
  directory: string,
  { what, path }: DiffRequest,
  deadline: Deadline,
): Promise<GitDiff> {
  const comparing = new Comparing(source, directory, path, deadline);
  switch (what.kind) {
    case 'working':
      return comparing.workingTree(null, false);
    case 'staged':
      return comparing.staged();
    case 'commit':
      return comparing.commit(what.commit);
    case 'since':
      return comparing.workingTree(what.base, what.includeUntracked);
  }
}

class Comparing {
  readonly #source: GitSource;
  readonly #directory: string;
  readonly #path: RepositoryPath | null;
  readonly #deadline: Deadline;

  constructor(source: GitSource, directory: string, path: RepositoryPath | null, deadline: Deadline) {
    this.#source = source;
    this.#directory = directory;
    this.#path = path;
    this.#deadline = deadline;
  }

  async workingTree(base: string | null, includeUntracked: boolean): Promise<GitDiff> {
    return this.#inRepository(async (repository) => {
      const finding = base === null ? Promise.resolve(null) : this.#findBase(repository, base);
      // Looked at when the index is there.
      finding.catch(() => undefined);
      const settings = [...SETTINGS, ...repository.filters];
      const argsOf = (commit: GitObjectId | null) => [
        'diff',
        ...SHOWING,
        IN_REPOSITORY,
        // In an unfinished merge: with our side, markers and all, as one difference like others.
        commit ?? '--ours',
      ];
      if (!includeUntracked) {
        const { environment } = repository;
        const quick = await this.#compare(argsOf(await finding), {
          environment,
          settings: [...settings, UNREFRESHED],
        });
        if (!quick.mayListUnchanged) return shown(quick, await finding);
      }
      await using index = await ScratchIndex.make(repository, { toAdd: includeUntracked });
      const commit = await finding;
      const environment = { ...repository.environment, ...index.environment };
      if (includeUntracked) await this.#addUntracked({ environment, settings });
      return shown(await this.#compare(argsOf(commit), { environment, settings }), commit);
    });
  }

  async staged(): Promise<GitDiff> {
    return this.#inRepository(async (repository) => {
      const head = (await headOf(repository)) ?? (await this.#findCommit('HEAD'));
      const { environment } = repository;
      return shown(
        await this.#compare(['diff', '--cached', ...SHOWING], { environment, settings: SETTINGS }),
        head,
      );
    });
  }

  async commit(revision: string): Promise<GitDiff> {
    const commit = await this.#find(revision);
    const parent = await this.#findCommit(`${commit}^1`);
    const sides = parent === null ? ['--root', commit] : [parent, commit];
    const args = ['diff-tree', '-r', '--no-commit-id', ...SHOWING, ...sides];
    return shown(await this.#compare(args, { settings: SETTINGS }), parent);
  }

  #inRepository(work: (repository: KnownRepository) => Promise<GitDiff>): Promise<GitDiff> {
    return inRepository(this.#source, this.#directory, this.#deadline, (repository) => {
      requireWorkingTree(repository);
      return work(repository);
    });
  }

  /** Without a process for one of which the files tell, and that was asked for before. It may be gone: git will say so. */
  async #findBase(repository: KnownRepository, revision: string): Promise<GitObjectId> {
    if (repository.commonDirectory !== null) {
      const id = revision === 'HEAD' ? await headOf(repository) : GitObjectId.safeParse(revision).data;
      if (id !== null && id !== undefined && knownCommits.has(id)) return id;
    }
    const commit = await this.#find(revision);
    if (knownCommits.size >= KNOWN_COMMITS_MAX) knownCommits.clear();
    knownCommits.add(commit);
    return commit;
  }

  async #find(revision: string): Promise<GitObjectId> {
    const commit = await this.#findCommit(revision);
    if (commit === null) throw new FailureError('invalid-revision', { revision });
    return commit;
  }

  #findCommit(revision: string): Promise<GitObjectId | null> {
    return findCommit(this.#source, this.#directory, revision, this.#deadline);
  }

  /** In the copy of the index: as files that are to be added, without their content. */
  async #addUntracked(more: Pick<GitCommand, 'environment' | 'settings'>): Promise<void> {
    const outcome = await this.#run(['add', '--intent-to-add', '--ignore-errors', '--', '.'], more);
    // 1: some cannot be added, such as a repository without a commit.
    if (outcome.exitCode !== 0 && outcome.exitCode !== 1) throw gitFailure(outcome);
  }

  async #compare(
    args: readonly string[],
    more: Pick<GitCommand, 'environment' | 'settings'>,
  ): Promise<Compared> {
    const outcome = await this.#run([...args, '--', this.#path ?? '.'], more);
    const isCut = outcome.stdout.length >= OUTPUT_BYTES_MAX;
    if (outcome.exitCode !== 0 && !(isCut && !outcome.timedOut)) throw gitFailure(outcome);
    return { ...parseDiff(outcome.stdout, isCut), isCut };
  }

  #run(args: readonly string[], more: Pick<GitCommand, 'environment' | 'settings'>) {
    return runGit(this.#source, {
      directory: this.#directory,
      args,
      effect: 'read',
      timeoutMs: this.#deadline.remaining(),
      stdoutBytesMax: OUTPUT_BYTES_MAX,
      ...more,
    });
  }
}

interface Compared extends ParsedDiff {
  /** Git wrote more. */
  readonly isCut: boolean;
}

function shown({ files, filesCut, unnameable, patch, isCut }: Compared, base: GitObjectId | null): GitDiff {
  return { base, files, filesCut, unnameable, ...shownPatch(patch, isCut) };
}

/** null where the files do not tell, or before the first commit. */
async function headOf({ gitDirectory, commonDirectory }: KnownRepository): Promise<GitObjectId | null> {
  return commonDirectory === null ? null : readHead(gitDirectory, commonDirectory);
}

function requireWorkingTree({ hasWorkingTree }: Repository): void {
  if (!hasWorkingTree) throw new FailureError('no-working-tree');
}

/** The text within its bound, whole lines only. */
export function shownPatch(
  bytes: Buffer,
  isCut: boolean,
): Pick<GitDiff, 'patch' | 'patchCut' | 'patchLossy'> {
  const text = cutToLines(bytes, isCut).toString('utf8');
  // What is no text grows when it is shown.
  const shown = cutToLines(Buffer.from(text), false);
  return {
    patch: shown.toString('utf8'),
    patchCut: isCut || bytes.length > GIT_PATCH_BYTES_MAX || shown.length < Buffer.byteLength(text),
    patchLossy: !Buffer.from(text).equals(cutToLines(bytes, isCut)),
  };
}

function cutToLines(bytes: Buffer, isCut: boolean): Buffer {
  if (bytes.length <= GIT_PATCH_BYTES_MAX && !isCut) return bytes;
  const end = bytes.subarray(0, GIT_PATCH_BYTES_MAX).lastIndexOf(0x0a);
  return bytes.subarray(0, end + 1);
}
