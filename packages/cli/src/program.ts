/**
 * From words to an exit code: 0 done, 1 refused or failed, 2 wrong usage. A failure is reported here and nowhere else;
 * commands throw.
 */
import { Command, CommanderError } from 'commander';
import { CommandContext, type Terminal } from './command-context.ts';
import { COMMANDS, pickCommand } from './command-names.ts';
import { describeFailure } from './failure-report.ts';
import type { GlobalOptions } from './global-options.ts';
import { splitPassedThrough } from './operands.ts';
import { UsageError } from './usage-error.ts';
import { VERSION } from './version.ts';

export async function runProgram(argv: readonly string[], terminal: Terminal): Promise<number> {
  const wanted = asksForHelpOf(argv);
  const { passedThrough } = splitPassedThrough(wanted);
  const context = new CommandContext(terminal, passedThrough);
  try {
    const program = await buildProgram(wanted, context);
    await program.parseAsync(wanted, { from: 'user' });
    return context.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof UsageError) {
      terminal.stderr.write(usageText(error.message, pickCommand(wanted)));
      return 2;
    }
    for (const line of describeFailure(error)) terminal.stderr.write(`${line}\n`);
    return 1;
  } finally {
    context.close();
  }
}

/** `roost help NAME` is `roost NAME --help`: only then is the command's own code loaded. */
function asksForHelpOf(argv: readonly string[]): readonly string[] {
  if (argv[0] !== 'help') return argv;
  const [, name] = argv;
  return name === undefined ? ['--help'] : [name, '--help'];
}

async function buildProgram(argv: readonly string[], context: CommandContext): Promise<Command> {
  const { stdout, stderr } = context.terminal;
  const picked = pickCommand(argv);
  const program = new Command('roost')
    .description('Runs AI coding agents as durable sessions that belong to the machine, not to a window.')
    .version(VERSION, '-V, --version')
    .option('--home <directory>', 'state directory (default: $ROOST_HOME, else ~/.roost)')
    .option('--no-start', 'fail instead of starting a node when none runs')
    .helpCommand(false)
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: (text, write) =>
        write(
          usageText(
            text
              .replace(/^error: /, '')
              .trim()
              .replaceAll('\n', ' '),
            picked,
          ),
        ),
    })
    .hook('preAction', (root) => context.applyGlobal(root.opts<GlobalOptions>()));
  // The commands of `roost hub` bound users and tokens by a `--node` of their own; the root's would take it from them, and leave no bound.
  if (picked !== 'hub')
    program.option('--node <node>', 'a node of the hub instead of this machine (default: $ROOST_NODE)');
  for (const [name, entry] of Object.entries(COMMANDS)) {
    const command = program.command(name, { hidden: entry.hidden === true }).description(entry.summary);
    if (name === picked) (await entry.load()).define(command, context);
    // The root's own options hold behind the command's name too.
    command.configureHelp({ showGlobalOptions: true });
  }
  return program;
}

function usageText(sentence: string, command: string | undefined): string {
  const help =
    command !== undefined && Object.hasOwn(COMMANDS, command) ? `roost ${command} --help` : 'roost --help';
  return `roost: wrong-usage: ${sentence}\n  try: ${help}\n`;
}
