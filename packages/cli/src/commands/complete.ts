/** `roost __complete -- WORDS...`: candidates for the last word, one a line. Never starts a node, never says why not. */
import { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { COMMANDS, pickCommand } from '../command-names.ts';

/** What the next operand of a command is. */
const OPERANDS: Readonly<Record<string, 'session' | 'sessions' | 'provider' | 'operation' | 'shell'>> = {
  attach: 'session',
  logs: 'session',
  send: 'session',
  interrupt: 'session',
  wait: 'session',
  stop: 'sessions',
  rm: 'sessions',
  run: 'provider',
  api: 'operation',
  completion: 'shell',
};
const PROVIDERS = ['claude', 'codex', 'shell'];
const SHELLS = ['bash', 'zsh', 'fish'];
const WORKSPACE_COMMANDS = ['add', 'ls', 'rm'];
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
  if (name === 'workspace') {
    if (operands.length === 0) return WORKSPACE_COMMANDS;
    return operands[0] === 'rm' ? workspaceIds(context) : [];
  }
  const kind = OPERANDS[name];
  if (operands.length > 0 && kind !== 'sessions') return [];
  switch (kind) {
    case 'session':
    case 'sessions':
      return sessionNames(context, name === 'rm' || name === 'logs');
    case 'provider':
      return PROVIDERS;
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
