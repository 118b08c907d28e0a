/** `roost worktree profiles`, `leases`, `resolve`: worktrees that the node makes, owns and takes away. */
import type { Command } from 'commander';
import type { NodeConnection } from '@roost/client';
import {
  LeaseChoice,
  LeaseId,
  WORKTREE_COMMANDS_MAX,
  WORKTREE_COMMAND_MS_MAX,
  WORKTREE_DEADLINE_MS_MAX,
  type CommandReceipt,
  type LeaseEvidence,
  type WorktreeLease,
} from '@roost/protocol';
import type { CommandContext } from '../../command-context.ts';
import { paletteFor } from '../../paint.ts';
import { printable } from '../../printable.ts';
import { describeAge } from '../../quantities.ts';
import { layOutTable, type Column } from '../../table.ts';
import { UsageError } from '../../usage-error.ts';

/** Milliseconds that making or removing one may take: all commands of its profile, and git. */
export const MANAGED_MS = WORKTREE_COMMANDS_MAX * WORKTREE_COMMAND_MS_MAX + 600_000;
/** Milliseconds that one by hand may take: git, and looking at what it left when it failed. */
export const BY_HAND_MS = WORKTREE_DEADLINE_MS_MAX + 90_000;

const PROFILE_COLUMNS: readonly Column[] = [
  { title: 'ID' },
  { title: 'WORKSPACE' },
  { title: 'RETENTION' },
  { title: 'PORTS', align: 'right' },
  { title: 'REVISION', shrinksTo: 12 },
  { title: 'DESCRIPTION', shrinksTo: 0 },
];

export function defineProfiles(command: Command, context: CommandContext): void {
  command
    .command('profiles')
    .description('list the profiles of managed worktrees, read anew')
    .option('--json', 'print one JSON document')
    .action(async (options: { json?: boolean }) => {
      const { profiles, faults } = await (await context.node()).request('worktree.profiles', {});
      for (const { file, fault } of faults) context.note(printable(`${file}: ${fault}`));
      if (options.json === true) {
        context.printJson(profiles);
        return;
      }
      if (profiles.length === 0) {
        context.note(`no profiles; ${await context.home()}/profiles/worktree/ID.json   would be one`);
        return;
      }
      const rows = profiles.map((one) => [
        one.id,
        one.sourceWorkspace,
        one.retention,
        String(one.ports),
        one.revision,
        one.description ?? '',
      ]);
      printTable(context, PROFILE_COLUMNS, rows);
    });
}

const LEASE_COLUMNS: readonly Column[] = [
  { title: 'LEASE' },
  { title: 'STATE' },
  { title: 'WORKSPACE' },
  { title: 'BRANCH', shrinksTo: 12 },
  { title: 'PORTS' },
  { title: 'HELD BY' },
  { title: 'AGE', align: 'right' },
];

export function defineLeases(command: Command, context: CommandContext): void {
  command
    .command('leases')
    .description('list the managed worktrees')
    .option('-a, --all', 'removed ones too')
    .option('--json', 'print one JSON document')
    .action(async (options: { all?: boolean; json?: boolean }) => {
      const { leases } = await (
        await context.node()
      ).request('worktree.leases', { includeRemoved: options.all === true });
      if (options.json === true) {
        context.printJson(leases);
        return;
      }
      if (leases.length === 0) {
        context.note('no managed worktrees; roost run PROVIDER --worktree   makes one');
        return;
      }
      const now = Date.now();
      const rows = leases.map((lease) => [
        lease.id,
        lease.failure === null ? lease.state : `${lease.state} (${lease.failure})`,
        lease.sourceWorkspaceId,
        printable(lease.branch),
        lease.ports === null ? '' : `${lease.ports.base}-${lease.ports.base + lease.ports.count - 1}`,
        describeHolders(lease),
        describeAge(now - Date.parse(lease.createdAt)),
      ]);
      printTable(context, LEASE_COLUMNS, rows);
    });
}

export function defineResolve(command: Command, context: CommandContext): void {
  command
    .command('resolve')
    .description('show what is known of a managed worktree, and decide about it')
    .argument('<lease>', 'its lease, wt-..., or its branch')
    .argument('[choice]', `one of those that are offered: ${LeaseChoice.options.join(', ')}`)
    .option('--json', 'print one JSON document')
    .action(async (named: string, asked: string | undefined, options: { json?: boolean }) => {
      const choice = asked === undefined ? undefined : readChoice(asked);
      const connection = await context.node();
      const leaseId = await readLease(connection, named);
      const evidence = await connection.request('worktree.evidence', { leaseId });
      if (choice === undefined) {
        if (options.json === true) context.printJson(evidence);
        else printEvidence(context, evidence);
        return;
      }
      if (options.json !== true) printEvidence(context, evidence);
      const lease = await connection.request(
        'worktree.resolve',
        { leaseId, choice },
        { timeoutMs: MANAGED_MS },
      );
      if (options.json === true) context.printJson(lease);
      else printEnd(context, lease);
    });
}

/** What became of it. */
export function printEnd(context: CommandContext, lease: WorktreeLease): void {
  const { id, state, outcome, branch, branchKept, recoveryRefs } = lease;
  context.print(`${id} ${outcome ?? state}`);
  if (branchKept === true) context.print(`branch ${printable(branch)} is still there`);
  for (const ref of recoveryRefs) context.print(`kept its commits: ${printable(ref)}`);
}

function printEvidence(context: CommandContext, evidence: LeaseEvidence): void {
  const { lease, git } = evidence;
  const facts: [string, string][] = [
    ['lease', lease.id],
    ['state', lease.failure === null ? lease.state : `${lease.state}: ${lease.failure}`],
    ['held by', describeHolders(lease) || 'nobody'],
    ['directory', `${evidence.target} (${evidence.directory})`],
    [
      'made in',
      evidence.authority === 'held'
        ? 'the directory that it was made in is there'
        : 'another directory is in its place, or none',
    ],
    ['branch', lease.branch],
    ['git', git.kind === 'listed' ? describeEntry(git) : git.kind],
    ['clean', evidence.clean],
    ['verdict', evidence.verdict],
  ];
  for (const [name, value] of facts) context.print(`${name.padEnd(12)}${printable(value)}`);
  printReceipt(context, 'set-up', evidence.setup);
  printReceipt(context, 'tear-down', evidence.teardown);
  const choices = evidence.choices.map((one) => `roost worktree resolve ${lease.id} ${one}`);
  context.print(choices.length === 0 ? 'nothing can be decided about it now' : choices.join('\n'));
}

function printReceipt(context: CommandContext, name: string, receipt: CommandReceipt | null): void {
  if (receipt === null) return;
  const code = receipt.exitCode === null ? '' : `, exit code ${receipt.exitCode}`;
  context.print(`${name.padEnd(12)}${receipt.outcome}${code}${receipt.truncated ? ', output cut' : ''}`);
  for (const { path, reason } of receipt.notCopied) {
    context.print(`${''.padEnd(12)}not copied: ${printable(path)} (${reason})`);
  }
  for (const line of receipt.output.split('\n')) if (line !== '') context.print(`  | ${printable(line)}`);
}

function describeEntry(git: Extract<LeaseEvidence['git'], { kind: 'listed' }>): string {
  const marks = [git.locked ? 'locked' : '', git.prunable ? 'its directory is gone' : ''].filter(
    (one) => one !== '',
  );
  return [`${git.branch ?? 'no branch'} at ${git.head ?? 'nothing'}`, ...marks].join(', ');
}

function describeHolders({ holders: { sessions, records } }: WorktreeLease): string {
  return [sessions === 0 ? '' : `${sessions} running`, records === 0 ? '' : `${records} resumable`]
    .filter((one) => one !== '')
    .join(', ');
}

/** A lease, else the only managed worktree of a branch. @throws UsageError. */
async function readLease(connection: NodeConnection, named: string): Promise<LeaseId> {
  const parsed = LeaseId.safeParse(named);
  if (parsed.success) return parsed.data;
  const { leases } = await connection.request('worktree.leases', {});
  const [lease, ...more] = leases.filter(({ branch }) => branch === named);
  if (lease === undefined) {
    throw new UsageError(
      `'${named}' is no lease, nor the branch of a managed worktree; roost worktree leases   lists them`,
    );
  }
  if (more.length === 0) return lease.id;
  const all = [lease, ...more].map(({ id, sourceWorkspaceId }) => `${id} (${sourceWorkspaceId})`);
  throw new UsageError(`'${named}' is the branch of more than one: ${all.join(', ')}`);
}

function readChoice(text: string): LeaseChoice {
  const parsed = LeaseChoice.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new UsageError(`'${text}' is no choice; those are ${LeaseChoice.options.join(', ')}`);
}

function printTable(context: CommandContext, columns: readonly Column[], rows: readonly string[][]): void {
  const { stdout, env } = context.terminal;
  const palette = paletteFor(stdout, env);
  const width = stdout.isTTY ? stdout.columns : Number.POSITIVE_INFINITY;
  const cells = rows.map((row) =>
    row.map((text, index) => (index === 0 ? { text, paint: palette.strong } : { text })),
  );
  const [header = '', ...lines] = layOutTable(columns, cells, width);
  context.print([palette.strong(header), ...lines].join('\n'));
}
