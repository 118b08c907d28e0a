// What git says of a workspace, in three questions that are asked at once. Each has its own answer, so what one of them lacks is said of
// that one; and only git itself says that there is no repository.
import {
  FailureError,
  INSPECTED_COMMITS_MAX,
  INSPECTED_STATUS_MAX,
  INSPECTED_WORKTREES_MAX,
  type GitCut,
  type GitStatus,
  type InspectedGit,
} from '@roost/protocol';
import type { Deadline } from '../deadline.ts';
import type { Log } from '@roost/storage';

export interface GitQuestions {
  /** Never throws for what git does. */
  status(root: string, deadline: Deadline): Promise<GitStatus>;
  /** Newest first; of an unborn branch, none. At most `max`. @throws FailureError: git-*, not-git-repository. */
  commits(root: string, max: number, deadline: Deadline): Promise<InspectedGit['commits']>;
  /** @throws FailureError: git-*, not-git-repository. */
  worktrees(root: string, deadline: Deadline): Promise<InspectedGit['worktrees']>;
}

export interface GitInspectionScene {
  readonly git: GitQuestions;
  readonly log: Log;
}

/** A list, why there is none, or null while it is waited for. */
type Answer<One> = { readonly value: readonly One[] } | { readonly why: GitCut['why'] } | null;

export class GitInspection {
  readonly #scene: GitInspectionScene;
  readonly #root: string;
  readonly #deadline: Deadline;
  #status: GitStatus = { kind: 'unknown', reason: 'git-timed-out' };
  #commits: Answer<InspectedGit['commits'][number]> = null;
  #worktrees: Answer<InspectedGit['worktrees'][number]> = null;

  constructor(scene: GitInspectionScene, root: string, deadline: Deadline) {
    this.#scene = scene;
    this.#root = root;
    this.#deadline = deadline;
  }

  /** Never throws. */
  async run(): Promise<void> {
    const { git } = this.#scene;
    const root = this.#root;
    const deadline = this.#deadline;
    await Promise.all([
      this.#askStatus(),
      // One more than is shown tells whether there are more.
      this.#ask(git.commits(root, INSPECTED_COMMITS_MAX + 1, deadline)).then(
        (answer) => void (this.#commits = answer),
      ),
      this.#ask(git.worktrees(root, deadline)).then((answer) => void (this.#worktrees = answer)),
    ]);
  }

  /** What is known until now; a question that is not answered yet is one whose time is over. */
  get result(): InspectedGit {
    const status = this.#status;
    if (status.kind === 'not-a-repository') return { status, commits: [], worktrees: [], cuts: [] };
    return {
      status: firstEntries(status),
      commits: valuesOf(this.#commits).slice(0, INSPECTED_COMMITS_MAX),
      worktrees: valuesOf(this.#worktrees).slice(0, INSPECTED_WORKTREES_MAX),
      cuts: [
        ...cut('commits', this.#commits, INSPECTED_COMMITS_MAX),
        ...cut('worktrees', this.#worktrees, INSPECTED_WORKTREES_MAX),
      ],
    };
  }

  async #askStatus(): Promise<void> {
    try {
      this.#status = await this.#scene.git.status(this.#root, this.#deadline);
    } catch (error) {
      this.#scene.log.warn({ err: error }, 'the status could not be read');
      this.#status = { kind: 'unknown', reason: 'git-failed' };
    }
  }

  async #ask<One>(asked: Promise<readonly One[]>): Promise<Answer<One>> {
    try {
      return { value: await asked };
    } catch (error) {
      const isFailure = error instanceof FailureError;
      if (isFailure && error.failure.code === 'git-timed-out') return { why: 'time' };
      this.#scene.log.debug({ err: error, cause: isFailure ? error.cause : undefined }, 'git could not tell');
      return { why: 'failed' };
    }
  }
}

function firstEntries(status: GitStatus): GitStatus {
  if (status.kind !== 'repository' || status.entries.length <= INSPECTED_STATUS_MAX) return status;
  return { ...status, entries: status.entries.slice(0, INSPECTED_STATUS_MAX), entriesCut: true };
}

function valuesOf<One>(answer: Answer<One>): readonly One[] {
  return answer !== null && 'value' in answer ? answer.value : [];
}

function cut(of: GitCut['of'], answer: Answer<unknown>, max: number): GitCut[] {
  if (answer === null) return [{ of, why: 'time' }];
  if ('why' in answer) return [{ of, why: answer.why }];
  return answer.value.length > max ? [{ of, why: 'entries' }] : [];
}
