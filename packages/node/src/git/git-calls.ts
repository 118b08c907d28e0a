// Calls of git within one deadline; what is no success becomes a failure with its code.
import type { CommandOutcome } from '../commands/run-command.ts';
import type { Deadline } from '../deadline.ts';
import { gitFailure } from './git-failure.ts';
import { runGit, type GitSource } from './run-git.ts';

/** Milliseconds of one read, when the deadline leaves as much. */
const READ_MS = 30_000;
/** Milliseconds of one change. */
export const CHANGE_MS = 180_000;
/** Bytes of an answer that is a line or two. */
const SHORT_BYTES = 4_096;

export interface CallOptions {
  /** Bytes of standard output. */
  readonly bytesMax?: number;
  /** The process that makes the change has been started. */
  readonly started?: ((pid: number) => void) | undefined;
}

export class GitCalls {
  readonly #source: GitSource;

  constructor(source: GitSource) {
    this.#source = source;
  }

  /** Where the person's own files are; null when the environment does not say. */
  get home(): string | null {
    return this.#source.environment.HOME ?? null;
  }

  /** How a reading command went, whatever that was. @throws FailureError: git-not-installed, git-timed-out. */
  async look(
    directory: string,
    args: readonly string[],
    deadline: Deadline,
    options: CallOptions = {},
  ): Promise<CommandOutcome> {
    return this.#run(directory, args, deadline, 'read', options);
  }

  /** What a reading command wrote. @throws FailureError: git-*, not-git-repository. */
  async read(
    directory: string,
    args: readonly string[],
    deadline: Deadline,
    options: CallOptions = {},
  ): Promise<Buffer> {
    const outcome = await this.look(directory, args, deadline, options);
    if (outcome.exitCode !== 0 || outcome.truncated) throw gitFailure(outcome);
    return outcome.stdout;
  }

  /** How a change went. @throws FailureError: git-not-installed. A change that timed out may have happened. */
  async change(
    directory: string,
    args: readonly string[],
    deadline: Deadline,
    options: CallOptions = {},
  ): Promise<CommandOutcome> {
    return this.#run(directory, args, deadline, 'change', options);
  }

  async #run(
    directory: string,
    args: readonly string[],
    deadline: Deadline,
    effect: 'read' | 'change',
    { bytesMax = SHORT_BYTES, started }: CallOptions,
  ): Promise<CommandOutcome> {
    const outcome = await runGit(this.#source, {
      directory,
      args,
      effect,
      timeoutMs: Math.min(deadline.remaining(), effect === 'read' ? READ_MS : CHANGE_MS),
      stdoutBytesMax: bytesMax,
      started,
    });
    if (outcome.startError !== null || (outcome.timedOut && effect === 'read')) throw gitFailure(outcome);
    return outcome;
  }
}

/** For commands about a worktree's files: they are those at its path, wherever a setting of the worktree says that they are. */
export function inTree(path: string): string[] {
  return [`--work-tree=${path}`];
}

/** The first line of what git wrote. */
export function lineOf(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}
