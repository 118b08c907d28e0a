// Set-up and tear-down of a worktree: the profile's commands one after the other, until one fails. Each is bounded in time, all of
// them together in kept output, and nothing that they start outlives them, not even a crash of the node: their processes carry a
// marker by which the next start finds them.
import { WORKTREE_OUTPUT_BYTES_MAX, type CommandReceipt, type WorktreeCommand } from '@roost/protocol';
import { endProcesses, sessionMembers } from '@roost/keeper/processes';
import { childEnvironment } from '@roost/providers';
import { runCommand } from '../commands/run-command.ts';
import { leaseEnvironment } from './lease-environment.ts';
import type { LeaseRow } from './lease-table.ts';

interface CommandsScene {
  /** The node's environment, of which the commands get a selection. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly signal: AbortSignal;
}

/** Bytes kept while a command runs; what is stored is the end of it. */
const STREAM_BYTES_MAX = 4 * 1024 * 1024;
/** The pid of a root that nobody remembers. */
const NO_PID = -1;

type Ran = Omit<CommandReceipt, 'notCopied'>;

/** Never throws: how it went is the receipt. */
export async function runCommands(
  { environment, home, signal }: CommandsScene,
  lease: LeaseRow,
  commands: readonly WorktreeCommand[],
): Promise<Ran> {
  let output = Buffer.alloc(0);
  let truncated = false;
  const receipt = (outcome: Ran['outcome'], command: number | null, exitCode: number | null): Ran => ({
    outcome,
    command,
    exitCode,
    ...lastOf(output, truncated),
    at: new Date().toISOString(),
  });
  for (const [index, { command, timeoutMs }] of commands.entries()) {
    const [program = '', ...args] = command;
    const ran = await runCommand({
      program,
      args,
      directory: lease.target,
      environment: {
        ...childEnvironment({
          parent: environment,
          inherit: ['SSH_AUTH_SOCK'],
          scrub: [],
          set: { ROOST_HOME: home, ...leaseEnvironment(lease) },
        }),
        ROOST_SESSION_ID: markerOf(lease),
      },
      timeoutMs,
      stdoutBytesMax: STREAM_BYTES_MAX,
      stderrBytesMax: STREAM_BYTES_MAX,
      beyondStdout: 'drop',
      signal,
    });
    const joined = Buffer.concat([output, ran.stdout, ran.stderr]);
    truncated ||= ran.truncated || ran.stderrTruncated || joined.length > WORKTREE_OUTPUT_BYTES_MAX;
    output = joined.subarray(-WORKTREE_OUTPUT_BYTES_MAX);
    if (ran.startError !== null) return receipt('not-started', index, null);
    if (ran.timedOut) return receipt('timed-out', index, null);
    if (ran.exitCode !== 0) return receipt('failed', index, ran.exitCode);
  }
  return receipt('done', null, commands.length === 0 ? null : 0);
}

/** Ends what commands of the worktree left running when the node ended in the middle of them. false: something still runs. */
export async function endLeftCommands(lease: Pick<LeaseRow, 'id'>): Promise<boolean> {
  const sessionId = markerOf(lease);
  const find = () => sessionMembers({ rootPid: NO_PID, rootStart: '0', sessionId, thorough: true });
  const { survivors } = await endProcesses({ find, graceMs: 0, politeSignals: [] });
  return survivors.length === 0;
}

/** Shaped like a session's id, by which processes are found; no session has it. */
function markerOf({ id }: Pick<LeaseRow, 'id'>): string {
  return id.slice('wt-'.length);
}

/** The last of it as text, without half characters at its beginning and without what a terminal would obey. */
function lastOf(output: Buffer, truncated: boolean): Pick<Ran, 'output' | 'truncated'> {
  let start = 0;
  if (truncated) while (start < output.length && ((output[start] ?? 0) & 0xc0) === 0x80) start += 1;
  const text = output
    .subarray(start)
    .toString('utf8')
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{C}\n\t]/gu, '');
  return { output: clipped(text), truncated };
}

/** What is no UTF-8 becomes longer when it is replaced. */
function clipped(text: string): string {
  let kept = text;
  while (Buffer.byteLength(kept) > WORKTREE_OUTPUT_BYTES_MAX) {
    kept = kept.slice(-Math.floor((kept.length * WORKTREE_OUTPUT_BYTES_MAX) / Buffer.byteLength(kept)) || -1);
  }
  return kept;
}
