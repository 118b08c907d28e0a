/** `roost __complete -- WORDS...`: candidates for the last word, one a line. Never starts a node, never says why not. */
import { Command } from 'commander';
import { allRecords } from '../all-records.ts';
import type { CommandContext } from '../command-context.ts';
import { COMMANDS, pickCommand } from '../command-names.ts';

type Kind = 'session' | 'sessions' | 'record' | 'provider' | 'operation' | 'shell';

/** What the next operand of a command is. */
const OPERANDS: Readonly<Record<string, Kind>> = {
  attach: 'session',
  logs: 'session',
  diff: 'session',
  prompt: 'session',
  ask: 'session',
  answer: 'session',
  timeline: 'session',
  send: 'session',
  interrupt: 'session',
  wait: 'session',
  stop: 'sessions',
  rm: 'sessions',
  resume: 'record',
  run: 'provider',
  api: 'operation',
  completion: 'shell',
};
const SHELLS = ['bash', 'zsh', 'fish'];
/** Commands of commands, and which of them take a name of what they are about. */
const INNER_COMMANDS: Readonly<
  Record<string, { readonly names: readonly string[]; readonly operands: Readonly<Record<string, Inner>> }>
> = {
  workspace: {
    names: ['add', 'new', 'ls', 'inspect', 'tree', 'browse', 'rm'],
    operands: { rm: workspaceIds, inspect: workspaceIds, tree: workspaceIds },
  },
  files: {
    names: ['cat', 'write', 'new', 'mkdir'],
    operands: { cat: workspaceIds, write: workspaceIds, new: workspaceIds, mkdir: workspaceIds },
  },
  worktree: {
    names: ['add', 'ls', 'rm', 'profiles', 'leases', 'resolve'],
    operands: { ls: workspaceIds, rm: workspaceIds, resolve: leaseIds },
  },
  records: {
    names: ['ls', 'show', 'rename', 'forget', 'resume'],
    operands: { show: recordNames, rename: recordNames, forget: recordNames, resume: recordNames },
  },
  history: {
    names: ['ls', 'show', 'adopt'],
    operands: { ls: providerIds, show: historyIds, adopt: historyIds },
  },
  git: {
    names: ['status', 'log', 'diff'],
    operands: { status: workspaceIds, log: workspaceIds, diff: workspaceIds },
  },
  profile: { names: ['ls', 'show'], operands: { show: profileIds } },
  provider: { names: ['ls', 'show', 'check'], operands: { show: providerIds, check: providerIds } },
  controller: { names: ['show', 'hold', 'break'], operands: {} },
};
type Inner = (context: CommandContext) => Promise<readonly string[]>;
const GLOBAL_OPTIONS = ['--home', '--no-start', '--help', '--version'];

export function define(command: Command, context: CommandContext): void {
  command.argument('[words...]').action(async (words: string[]) => {
    const candidates = await findCandidates(context, words).catch(() => []);
    const current = words.at(-1) ?? '';
    for (const candidate of candidates) {
      if (candidate.startsWith(current)) context.print(candidate);
    }
  });
}

async function findCandidates(context: CommandContext, words: readonly string[]): Promise<readonly string[]> {
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? '';
  if (before.includes('--')) return [];
  const name = pickCommand(before);
  const entry = name === undefined || !Object.hasOwn(COMMANDS, name) ? undefined : COMMANDS[name];
  if (name === undefined || entry === undefined) {
    if (current.startsWith('-')) return GLOBAL_OPTIONS;
    return Object.entries(COMMANDS)
      .filter(([, { hidden }]) => hidden !== true)
      .map(([one]) => one);
  }
  if (current.startsWith('-')) {
    const command = new Command(name);
    (await entry.load()).define(command, context);
    return [...command.options.map(({ long }) => long ?? ''), '--help', '--home', '--no-start'];
  }
  const operands = before.slice(before.indexOf(name) + 1).filter((word) => !word.startsWith('-'));
  if (name === 'run' && ['--profile', '-p'].includes(before.at(-1) ?? '')) return profileIds(context);
  const inner = INNER_COMMANDS[name];
  if (inner !== undefined) {
    const [command] = operands;
    if (command === undefined) return inner.names;
    return inner.operands[command]?.(context) ?? [];
  }
  const kind = OPERANDS[name];
  if (operands.length > 0 && kind !== 'sessions') return [];
  switch (kind) {
    case 'session':
    case 'sessions':
      return sessionNames(context, ['rm', 'logs', 'diff'].includes(name));
    case 'provider':
      return providerIds(context);
    case 'record':
      return recordNames(context);
    case 'operation': {
      const { OPERATIONS } = await import('@roost/protocol');
      return Object.keys(OPERATIONS);
    }
    case 'shell':
      return SHELLS;
    case undefined:
      break;
  }
  return [];
}

async function sessionNames(context: CommandContext, includeEnded: boolean): Promise<string[]> {
  const { connection } = await context.open({ mayStart: false });
  const { sessions } = await connection.request('session.list', { includeEnded });
  return sessions.map(({ name }) => name);
}

async function workspaceIds(context: CommandContext): Promise<string[]> {
  const { connection } = await context.open({ mayStart: false });
  const { workspaces } = await connection.request('workspace.list', {});
  return workspaces.map(({ id }) => id);
}

async function leaseIds(context: CommandContext): Promise<string[]> {
  const { connection } = await context.open({ mayStart: false });
  const { leases } = await connection.request('worktree.leases', {});
  return leases.map(({ id }) => id);
}

async function recordNames(context: CommandContext): Promise<string[]> {
  const { connection } = await context.open({ mayStart: false });
  return (await allRecords(connection)).map(({ name }) => name);
}

/** The newest ones: who wants another knows how its id begins. */
async function historyIds(context: CommandContext): Promise<string[]> {
  const { connection } = await context.open({ mayStart: false });
  const { entries } = await connection.request('history.list', {});
  return entries.map(({ id }) => id);
}

async function profileIds(context: CommandContext): Promise<string[]> {
  const { connection } = await context.open({ mayStart: false });
  const { profiles } = await connection.request('profile.list', {});
  return profiles.map(({ id }) => id);
}

async function providerIds(context: CommandContext): Promise<string[]> {
  const { connection } = await context.open({ mayStart: false });
  const { providers } = await connection.request('provider.list', { ask: false });
  return providers.map(({ id }) => id);
}
