/** `roost run`: starts a session, and brings it to this terminal unless asked otherwise. */
import type { Command } from 'commander';
import { resolve } from 'node:path';
import type { CommandContext } from '../command-context.ts';
import { readEnvironment, readLaunch, readName, readSize } from '../operands.ts';

/** Milliseconds that a spawn may take: a provider may have to be looked up on a slow disk, a keeper to be started. */
const SPAWN_TIMEOUT_MS = 120_000;

interface RunOptions {
  readonly name?: string;
  readonly cwd?: string;
  readonly detach?: boolean;
  readonly size?: string;
  readonly env: string[];
  readonly pipe?: boolean;
  readonly json?: boolean;
  readonly detachKey?: string;
}

export function define(command: Command, context: CommandContext): void {
  command
    .usage('[options] (PROVIDER [-- ARGS...] | -- COMMAND [ARGS...])')
    .argument('[words...]', 'a provider (claude, codex, shell), or after -- a command')
    .option('-n, --name <name>', 'what to call the session')
    .option('-C, --cwd <directory>', 'working directory (default: here)')
    .option('-d, --detach', 'do not attach; print name and id')
    .option('-s, --size <COLSxROWS>', 'terminal size (default: that of this terminal, else 80x24)')
    .option(
      '-e, --env <NAME[=VALUE]>',
      'set a variable for the session, without a value to that of this command; again for more',
      collect,
      [],
    )
    .option('--pipe', 'plain standard input and output instead of a terminal')
    .option('--json', 'do not attach; print the session as one JSON document')
    .option('--detach-key <key>', "key that begins 'd' to detach (default: $ROOST_DETACH_KEY, else ctrl-\\)")
    .action(async (words: string[], options: RunOptions) => {
      const { stdin, stdout, env, directory } = context.terminal;
      const attaches =
        options.detach !== true &&
        options.json !== true &&
        options.pipe !== true &&
        stdout.isTTY &&
        stdin.isTTY;
      const launch = readLaunch(words, context.passedThrough);
      const size = options.size === undefined ? ownSize(stdout) : readSize(options.size);
      const environment = readEnvironment(options.env, env);
      const name = options.name === undefined ? undefined : readName(options.name);
      const { parseDetachKey } = await import('../attach/detach-key-name.ts');
      const key = parseDetachKey(options.detachKey ?? env.ROOST_DETACH_KEY);
      const connection = await context.node();
      const session = await connection.request(
        'session.spawn',
        {
          directory: resolve(directory, options.cwd ?? '.'),
          transport: options.pipe === true ? 'pipe' : 'pty',
          launch,
          environment,
          ...(name === undefined ? {} : { name: name }),
          ...(size === undefined ? {} : { size }),
        },
        { timeoutMs: SPAWN_TIMEOUT_MS },
      );
      if (options.json === true) context.printJson(session);
      else if (!attaches) context.print(`${session.name} ${session.id}`);
      else {
        const { attachOrShow } = await import('../attach/attach-session.ts');
        await attachOrShow(context, session, key);
      }
    });
}

function collect(value: string, before: string[]): string[] {
  return [...before, value];
}

function ownSize(stdout: NodeJS.WriteStream): { columns: number; rows: number } | undefined {
  if (!stdout.isTTY || stdout.columns < 1 || stdout.rows < 1) return undefined;
  return { columns: Math.min(stdout.columns, 1000), rows: Math.min(stdout.rows, 1000) };
}
