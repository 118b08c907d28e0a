/**
 * Every command with its one-line summary and where its code lies. Only the command that was asked for is loaded; the
 * others are known by these lines alone.
 */
import type { Command } from 'commander';
import type { CommandContext } from './command-context.ts';

interface CommandModule {
  /** Adds arguments, options and the action to `command`. */
  define(command: Command, context: CommandContext): void;
}

export interface CommandEntry {
  readonly summary: string;
  readonly load: () => Promise<CommandModule>;
  readonly hidden?: boolean;
}

export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  up: { summary: 'start node and hub, or find them', load: () => import('./commands/up.ts') },
  down: { summary: 'stop node and hub; sessions go on running', load: () => import('./commands/down.ts') },
  status: { summary: 'what the node is and holds', load: () => import('./commands/status.ts') },
  run: { summary: 'start an agent or a command as a session', load: () => import('./commands/run.ts') },
  ls: { summary: 'list sessions', load: () => import('./commands/ls.ts') },
  attention: { summary: 'which sessions wait for a person', load: () => import('./commands/attention.ts') },
  attach: { summary: 'bring a session to this terminal', load: () => import('./commands/attach.ts') },
  logs: { summary: 'print what a session wrote', load: () => import('./commands/logs.ts') },
  diff: { summary: 'what a session changed', load: () => import('./commands/diff.ts') },
  prompt: {
    summary: 'give an agent a prompt, and hear how far it came',
    load: () => import('./commands/prompt.ts'),
  },
  ask: { summary: 'ask an agent, and read its answer', load: () => import('./commands/ask.ts') },
  answer: { summary: 'answer what agents ask', load: () => import('./commands/answer.ts') },
  timeline: {
    summary: 'what an agent said and did',
    load: () => import('./commands/timeline.ts'),
  },
  send: { summary: 'type text or keys into a session', load: () => import('./commands/send.ts') },
  interrupt: { summary: 'interrupt what runs in a session', load: () => import('./commands/interrupt.ts') },
  wait: { summary: 'wait until a session has ended', load: () => import('./commands/wait.ts') },
  stop: { summary: 'end sessions with all their processes', load: () => import('./commands/stop.ts') },
  rm: { summary: 'forget ended sessions', load: () => import('./commands/rm.ts') },
  resume: { summary: 'run an ended agent session on', load: () => import('./commands/resume.ts') },
  records: { summary: 'what can be resumed', load: () => import('./commands/records.ts') },
  history: {
    summary: 'sessions that agents keep, also those started elsewhere',
    load: () => import('./commands/history.ts'),
  },
  profile: { summary: 'what can be launched by name', load: () => import('./commands/profile.ts') },
  provider: {
    summary: 'agents that can be run by name, and whether they are here',
    load: () => import('./commands/provider.ts'),
  },
  workspace: {
    summary: 'directories that sessions work in',
    load: () => import('./commands/workspace.ts'),
  },
  git: { summary: 'status, history and changes of workspaces', load: () => import('./commands/git.ts') },
  files: { summary: 'read and change files of workspaces', load: () => import('./commands/files.ts') },
  worktree: { summary: 'worktrees for branches', load: () => import('./commands/worktree.ts') },
  hub: { summary: 'join many nodes, in one place', load: () => import('./commands/hub.ts') },
  node: { summary: 'nodes of the hub, and joining one', load: () => import('./commands/node.ts') },
  login: { summary: 'use a hub elsewhere', load: () => import('./commands/login.ts') },
  logout: { summary: 'use that hub no more', load: () => import('./commands/logout.ts') },
  controller: { summary: 'who may change things', load: () => import('./commands/controller.ts') },
  token: { summary: 'print the token that clients prove', load: () => import('./commands/token.ts') },
  events: { summary: 'read the event journal', load: () => import('./commands/events.ts') },
  doctor: { summary: 'check that everything is in place', load: () => import('./commands/doctor.ts') },
  api: { summary: 'call an operation of the node', load: () => import('./commands/api.ts') },
  completion: { summary: 'print a completion script', load: () => import('./commands/completion.ts') },
  __complete: {
    summary: 'candidates for a completion script',
    load: () => import('./commands/complete.ts'),
    hidden: true,
  },
};

/** The first word that is neither a global option nor the value of one: what the user wants done. */
export function pickCommand(argv: readonly string[]): string | undefined {
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index];
    if (word === undefined || word === '--') return undefined;
    if (word === '--home' || word === '--node') index++;
    else if (!word.startsWith('-')) return word;
  }
  return undefined;
}
