// What git takes for the name of a branch.
import { BRANCH_BYTES_MAX, FailureError } from '@roost/protocol';
import type { Deadline } from '../deadline.ts';
import type { GitCalls } from './git-calls.ts';

/** @throws FailureError: invalid-request, git-*. */
export async function requireBranchName(
  git: GitCalls,
  root: string,
  branch: string,
  deadline: Deadline,
): Promise<void> {
  const isText = branch.isWellFormed() && !/\p{Cc}/u.test(branch) && !branch.startsWith('-');
  const isReserved = ['', 'HEAD', '@'].includes(branch);
  const fits = !isReserved && Buffer.byteLength(branch) <= BRANCH_BYTES_MAX;
  if (!isText || !fits) throw refused();
  // As a full ref: `--branch` would expand what stands for the branch before.
  const outcome = await git.look(root, ['check-ref-format', `refs/heads/${branch}`], deadline);
  if (outcome.exitCode !== 0) throw refused({ branch });
}

function refused(details: Record<string, string> = {}): FailureError {
  return new FailureError('invalid-request', { ...details, reason: 'that is no name of a branch' });
}
