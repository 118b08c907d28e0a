// A repository from nothing. The directory is held open from before it is looked at until it is registered, so it can be told from
// whatever somebody puts in its place meanwhile; git works in what is held, not in what the path leads to. Nothing is ever
// deleted: what cannot be finished is left for a person, and said.
import { lstat, mkdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { AbsolutePath, FailureError, type BranchName } from '@roost/protocol';
import { Deadline } from '../deadline.ts';
import { requireBranchName } from '../git/branch-name.ts';
import { GitCalls } from '../git/git-calls.ts';
import { gitFailure } from '../git/git-failure.ts';
import { runGit, type GitSource } from '../git/run-git.ts';
import { systemErrorCode } from '@roost/storage';
import { isSame, OpenDirectory, type Identity } from './open-directory.ts';

/** Milliseconds that git may take to make a repository. */
const INIT_MS = 15_000;
/** Milliseconds in which git says whether a name can be that of a branch. */
const BRANCH_CHECK_MS = 5_000;
const OUTPUT_BYTES_MAX = 4_096;

/** Where tests act between the steps. */
export type StandaloneStep = 'made' | 'initialised' | 'verified';

export interface StandaloneScene {
  readonly git: GitSource;
  readonly onStep?: ((step: StandaloneStep) => void) | undefined;
}

export interface StandalonePlace {
  /** Canonical. */
  readonly root: string;
  readonly isThere: boolean;
}

/**
 * Where the repository would be; nothing is made.
 * @throws FailureError: invalid-workspace-root.
 */
export async function placeFor(asked: string): Promise<StandalonePlace> {
  const path = resolve(asked);
  try {
    const isThere = await isAnything(path);
    const root = isThere ? await realpath(path) : join(await realpath(dirname(path)), basename(path));
    if (AbsolutePath.safeParse(root).success) return { root, isThere };
  } catch (cause) {
    throw invalidRoot(asked, cause);
  }
  throw invalidRoot(asked);
}

/**
 * Makes the repository, and calls `register` once it is proved to be what was made.
 * @throws FailureError: invalid-request for a branch that git does not take, invalid-workspace-root, git-*,
 *   standalone-workspace-recovery-required. Only the last one leaves something behind.
 */
export async function makeStandalone<Outcome>(
  scene: StandaloneScene,
  place: StandalonePlace,
  branch: BranchName | undefined,
  register: () => Outcome,
): Promise<Outcome> {
  // Before anything is made: it also tells whether there is a git.
  await requireBranchName(new GitCalls(scene.git), '/', branch ?? 'main', Deadline.in(BRANCH_CHECK_MS));
  const { root, isThere } = place;
  const directory = await openEmpty(root, isThere);
  try {
    scene.onStep?.('made');
    const identity = await directory.identity();
    await initialise(scene, { directory, root, isThere, identity, branch });
    scene.onStep?.('initialised');
    const repository = await verify(directory, root, identity, null);
    scene.onStep?.('verified');
    await verify(directory, root, identity, repository);
    return register();
  } catch (error) {
    if (error instanceof Harmless) throw error.failure;
    throw new FailureError('standalone-workspace-recovery-required', { root }, { cause: error });
  } finally {
    await directory.close();
  }
}

/** Nothing is left of the attempt: the directory that was there is as it was. */
class Harmless extends Error {
  readonly failure: FailureError;
  constructor(failure: FailureError) {
    super(failure.message);
    this.failure = failure;
  }
}

/** The directory, made when it is not there. @throws FailureError: invalid-workspace-root, or what is left of it. */
async function openEmpty(root: string, isThere: boolean): Promise<OpenDirectory> {
  try {
    // One directory and no more: a mistyped path makes no tree.
    if (!isThere) await mkdir(root);
  } catch (cause) {
    throw invalidRoot(root, cause);
  }
  let directory: OpenDirectory;
  try {
    directory = await OpenDirectory.open(root);
  } catch (cause) {
    if (isThere) throw invalidRoot(root, cause);
    throw new FailureError('standalone-workspace-recovery-required', { root }, { cause });
  }
  try {
    if ((await namesIn(directory)).length === 0 && (await leadsTo(root, await directory.identity()))) {
      return directory;
    }
  } catch (cause) {
    await directory.close();
    throw invalidRoot(root, cause);
  }
  await directory.close();
  if (isThere) throw invalidRoot(root);
  throw new FailureError('standalone-workspace-recovery-required', { root });
}

interface Beginning {
  readonly directory: OpenDirectory;
  readonly root: string;
  readonly isThere: boolean;
  readonly identity: Identity;
  readonly branch: BranchName | undefined;
}

async function initialise(scene: StandaloneScene, beginning: Beginning): Promise<void> {
  const { directory, root, isThere, identity, branch } = beginning;
  const outcome = await runGit(scene.git, {
    directory: directory.pathForPrograms,
    // No template: hooks of one would run in a repository that nobody has looked at yet.
    args: ['init', '--quiet', '--template=', ...(branch === undefined ? [] : [`--initial-branch=${branch}`])],
    effect: 'change',
    timeoutMs: INIT_MS,
    stdoutBytesMax: OUTPUT_BYTES_MAX,
  });
  if (outcome.exitCode === 0) return;
  const failure = gitFailure(outcome);
  const isAsBefore = isThere && (await namesIn(directory)).length === 0 && (await leadsTo(root, identity));
  throw isAsBefore ? new Harmless(failure) : failure;
}

/** That the root is the directory that is held, and holds a repository and nothing else. Gives the identity of `.git`. */
async function verify(
  directory: OpenDirectory,
  root: string,
  identity: Identity,
  repository: Identity | null,
): Promise<Identity> {
  if (!(await leadsTo(root, identity))) throw new Error('another directory is at the root');
  const names = await namesIn(directory);
  if (names.length !== 1 || names[0] !== '.git') throw new Error('the root holds something else');
  const git = await directory.openChild('.git');
  try {
    const found = await git.identity();
    if (repository !== null && !isSame(found, repository)) throw new Error('another .git is in the root');
    return { dev: found.dev, ino: found.ino };
  } finally {
    await git.close();
  }
}

/** Names of at most two entries: more is too many. */
async function namesIn(directory: OpenDirectory): Promise<string[]> {
  const names: string[] = [];
  await directory.list(({ name }) => {
    names.push(name.toString());
    return names.length < 2;
  });
  return names;
}

async function leadsTo(path: string, identity: Identity): Promise<boolean> {
  const there = await lstat(path, { bigint: true });
  return there.isDirectory() && isSame(there, identity);
}

async function isAnything(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

function invalidRoot(root: string, cause?: unknown): FailureError {
  return new FailureError('invalid-workspace-root', { root }, { cause });
}
