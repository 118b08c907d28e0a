// What a git command that did not succeed means. What git wrote is for the node's log alone; the client gets a code.
import { FailureError } from '@roost/protocol';
import type { CommandOutcome } from '../commands/run-command.ts';

/** What git says in English (it runs in the C locale), and what it means; the first match counts. */
const SAYINGS = [
  ['detected dubious ownership', 'git-ownership-refused'],
  ['not a git repository', 'not-git-repository'],
  ['must be run in a work tree', 'no-working-tree'],
] as const;

/** The failure of a command that ended by itself with an error, was cut off, or never ran. `cause` goes to the log only. */
export function gitFailure(outcome: CommandOutcome): FailureError {
  const { startError, timedOut, exitCode, truncated } = outcome;
  const said = saidBy(outcome);
  const cause = new Error(
    `git: exit code ${exitCode ?? 'none'}${truncated ? ', output cut' : ''}: ${startError ?? said}`,
  );
  if (startError === 'ENOENT') return new FailureError('git-not-installed', {}, { cause });
  if (timedOut) return new FailureError('git-timed-out', {}, { cause });
  const code = SAYINGS.find(([words]) => said.toLowerCase().includes(words))?.[1] ?? 'git-failed';
  return new FailureError(code, {}, { cause });
}

/** What git wrote to standard error, as one line without control characters. */
export function saidBy({ stderr }: Pick<CommandOutcome, 'stderr'>): string {
  return stderr
    .toString('utf8')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}
