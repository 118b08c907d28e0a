// What an inspection and the looks at outside changes ask of git.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FailureError, GitObjectId, GIT_SUBJECT_BYTES_MAX, type InspectedGit } from '@roost/protocol';
import { Deadline } from '../deadline.ts';
import { GitCalls } from '../git/git-calls.ts';
import { gitFailure, saidBy } from '../git/git-failure.ts';
import { readGitStatus } from '../git/status.ts';
import type { GitSource } from '../git/run-git.ts';
import { GitWorktrees } from '../worktrees/git-worktrees.ts';
import type { GitQuestions } from './inspect-git.ts';
import type { GitSummary } from './workspaces.ts';

/** Bytes of the commits that are asked for: their subjects are lines, and lines may be long. */
const COMMITS_BYTES_MAX = 64 * 1024;
/** Milliseconds of one look at a workspace. */
const LOOK_MS = 10_000;

export function gitQuestions(source: GitSource): GitQuestions {
  const calls = new GitCalls(source);
  const worktrees = new GitWorktrees(source);
  return {
    status: (root, deadline) => readGitStatus(source, root, deadline),
    commits: (root, max, deadline) => recentCommits(calls, root, max, deadline),
    worktrees: async (root, deadline) =>
      (await worktrees.list(root, deadline)).map((entry) => ({ ...entry, workspaceId: null })),
  };
}

/** null where there is no repository. @throws FailureError: git-*. */
export async function lookAtGit(source: GitSource, root: string): Promise<GitSummary | null> {
  const status = await readGitStatus(source, root, Deadline.in(LOOK_MS));
  switch (status.kind) {
    case 'not-a-repository':
      return null;
    case 'unknown':
      throw new FailureError(status.reason);
    case 'repository': {
      const { branch, commit, entries, entriesCut, unnameable } = status;
      const untracked = entries.filter(({ worktree }) => worktree === 'untracked').length;
      return {
        branch,
        head: commit,
        changed: entries.length - untracked,
        untracked,
        truncated: entriesCut || unnameable > 0,
      };
    }
  }
}

async function recentCommits(
  calls: GitCalls,
  root: string,
  max: number,
  deadline: Deadline,
): Promise<InspectedGit['commits']> {
  // At the top of a repository all commits count, those too that change no file.
  const where = existsSync(join(root, '.git')) ? [] : ['--', '.'];
  const args = ['log', '-n', String(max), '--no-show-signature', '--pretty=format:%H%x1f%s', ...where];
  const outcome = await calls.look(root, args, deadline, { bytesMax: COMMITS_BYTES_MAX });
  if (outcome.exitCode === 0 || outcome.truncated) return parseCommits(outcome.stdout, outcome.truncated);
  if (saidBy(outcome).includes('does not have any commits yet')) return [];
  throw gitFailure(outcome);
}

/** Lines of id and subject, apart by a separator that no id holds. The last line may have been cut off. */
export function parseCommits(bytes: Buffer, isCut: boolean): InspectedGit['commits'] {
  const lines = bytes.toString('utf8').split('\n');
  if (isCut) lines.pop();
  return lines.flatMap((line) => {
    const at = line.indexOf('\x1f');
    const id = GitObjectId.safeParse(line.slice(0, Math.max(at, 0)));
    return id.success ? [{ id: id.data, subject: shortened(line.slice(at + 1)) }] : [];
  });
}

/** Without control characters; cut between characters. */
function shortened(subject: string): string {
  const text = subject.replace(/\p{Cc}/gu, ' ');
  const bytes = Buffer.from(text);
  if (bytes.length <= GIT_SUBJECT_BYTES_MAX) return text;
  return new TextDecoder().decode(bytes.subarray(0, GIT_SUBJECT_BYTES_MAX), { stream: true });
}
