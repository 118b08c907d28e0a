/** `roost run`: starts a session, and brings it to this terminal unless asked otherwise. */
import type { Command } from 'commander';
import { resolve } from 'node:path';
import type { CommandContext } from '../command-context.ts';
import type { InteractionPolicy, LeaseId, Session } from '@roost/protocol';
import { ownSize } from '../own-size.ts';
import { readEnvironment, readLaunch, readName, readSeconds, readSize, type Launch } from '../operands.ts';
import { readSessionOptions } from '../session-options.ts';
import { UsageError } from '../usage-error.ts';

/** Milliseconds that a spawn may take: a provider may have to be looked up on a slow disk, a keeper to be started. */
const SPAWN_TIMEOUT_MS = 120_000;

interface RunOptions {
  readonly name?: string;
  readonly cwd?: string;
  readonly detach?: boolean;
  readonly size?: string;
  readonly env?: string[];
  readonly option?: string[];
  readonly pipe?: boolean;
  readonly allow?: string[];
  readonly refuse?: string[];
  readonly answerWithin?: string;
  readonly json?: boolean;
  readonly detachKey?: string;
  readonly profile?: string;
  readonly set?: string[];
  readonly clear?: string[];
  readonly require?: string[];
  readonly workspace?: string;
  readonly worktree?: string | true;
  readonly worktreeProfile?: string;
  readonly worktreeLease?: string;
  readonly expectRevision?: string;
  readonly deadline?: string;
  readonly idempotencyKey?: string;
}

export function define(command: Command, context: CommandContext): void {
  command
    .usage('[options] (PROVIDER [-- ARGS...] | -- COMMAND [ARGS...] | --profile ID [-- ARGS...])')
    .argument('[words...]', 'a provider (roost provider ls   lists them), or after -- a command')
    .option('-n, --name <name>', 'what to call the session')
    .option('-C, --cwd <directory>', 'working directory (default: here)')
    .option('-d, --detach', 'do not attach; print name and id')
    .option(
      '-s, --size <COLSxROWS>',
      "terminal size (default: that of this terminal, else 80x24; with --profile the profile's)",
    )
    .option(
      '-e, --env <NAME[=VALUE]>',
      'set a variable for the session, without a value to that of this command; again for more',
      collect,
    )
    .option(
      '-o, --option <name=value>',
      'how the agent works: model, permission-mode, effort, allowed-tools, disallowed-tools, mcp-config, append-system-prompt; again for more',
      collect,
    )
    .option(
      '--pipe',
      'no terminal: an agent is spoken with (roost ask, roost timeline), a command gets plain standard input and output',
    )
    .option(
      '--allow <tool>',
      'with --pipe: what the agent may do unasked; * stands for any rest of the name; again for more',
      collect,
    )
    .option('--refuse <tool>', 'with --pipe: what it is refused unasked; again for more', collect)
    .option('--answer-within <seconds>', 'with --pipe: refuse what nobody has answered in that time')
    .option('--json', 'do not attach; print the session (with --profile the receipt) as one JSON document')
    .option('--detach-key <key>', "key that begins 'd' to detach (default: $ROOST_DETACH_KEY, else ctrl-\\)")
    .option(
      '-w, --worktree [branch]',
      'run in a new worktree: a managed one when a worktree profile names the workspace, else an ordinary one',
    )
    .option('--worktree-profile <id>', 'which worktree profile (default: the only one of the workspace)')
    .option('--worktree-lease <lease>', 'run in this managed worktree')
    .optionsGroup('From a profile:')
    .option('-p, --profile <id>', 'launch what this profile says; arguments behind -- replace its own')
    .option(
      '--set <field=value>',
      'another value than the profile has: provider, transport, size, arguments (a JSON array), prompt, environment-profile, bundle, context; again for more',
      collect,
    )
    .option('--clear <field>', 'no value at all; again for more', collect)
    .option('--workspace <id>', 'run in this workspace (default: the one around the working directory)')
    .option('--require <capability>', 'refuse when the launch lacks it; again for more', collect)
    .option('--expect-revision <revision>', 'refuse when the profile has another (default: the current one)')
    .option(
      '--deadline <seconds>',
      'time until the process runs, else nothing is left of it (default and most: 120)',
    )
    .option(
      '--idempotency-key <key>',
      'launch once: the same words under the same key answer the first launch',
    )
    .action(async (words: string[], options: RunOptions) => {
      const { stdin, stdout, env } = context.terminal;
      const attaches =
        options.detach !== true &&
        options.json !== true &&
        options.pipe !== true &&
        stdout.isTTY &&
        stdin.isTTY;
      const { parseDetachKey } = await import('../attach/detach-key-name.ts');
      const key = parseDetachKey(options.detachKey ?? env.ROOST_DETACH_KEY);
      const started = await start(context, words, options);
      if (options.json === true) context.printJson(started.document);
      else if (!attaches || started.transport === 'pipe') context.print(`${started.name} ${started.id}`);
      else {
        const { attachOrShow } = await import('../attach/attach-session.ts');
        await attachOrShow(context, started.session ?? (await context.resolveSession(started.id)), key);
      }
    });
}

interface Started {
  /** What `--json` prints. */
  readonly document: unknown;
  readonly name: string;
  readonly id: string;
  readonly transport: Session['transport'];
  readonly session?: Session;
}

async function start(
  context: CommandContext,
  words: readonly string[],
  options: RunOptions,
): Promise<Started> {
  const { profile } = options;
  if (options.worktreeProfile !== undefined && options.worktree === undefined) {
    throw new UsageError('--worktree-profile needs --worktree');
  }
  if (profile === undefined) {
    const session = await spawn(context, words, options);
    const { name, id, transport } = session;
    return { document: session, name, id, transport, session };
  }
  if (words.length > (context.passedThrough?.length ?? 0)) {
    throw new UsageError('the profile names the provider; --set provider=... takes another');
  }
  if (options.env !== undefined) throw new UsageError('--env does not go with --profile');
  if (options.option !== undefined) throw new UsageError('--option does not go with --profile');
  if (options.worktree !== undefined || options.worktreeLease !== undefined) {
    throw new UsageError(
      '--worktree does not go with --profile; --set provider=... is a plain: roost run PROVIDER',
    );
  }
  const { launchFromProfile, readProfileLaunch } = await import('../profile-launch.ts');
  const launch = readProfileLaunch(
    { ...options, profile },
    context.passedThrough,
    context.terminal.directory,
  );
  const receipt = await launchFromProfile(context, launch);
  const { name, transport, session } = receipt;
  return { document: receipt, name, id: session.sessionId, transport };
}

async function spawn(
  context: CommandContext,
  words: readonly string[],
  options: RunOptions,
): Promise<Session> {
  const { stdout, env, directory } = context.terminal;
  const stray = PROFILE_OPTIONS.find((name) => options[name] !== undefined);
  if (stray !== undefined) throw new UsageError(`--${kebab(stray)} needs --profile`);
  const launch = withOptions(readLaunch(words, context.passedThrough), options.option, directory);
  const size = options.size === undefined ? ownSize(stdout) : readSize(options.size);
  const environment = readEnvironment(options.env ?? [], env);
  const name = options.name === undefined ? undefined : readName(options.name);
  const interactions = readPolicy(options);
  const here = resolve(directory, options.cwd ?? '.');
  const spawnIn = async (place: Place): Promise<Session> =>
    (await context.node()).request(
      'session.spawn',
      {
        directory: place.directory,
        transport: options.pipe === true ? 'pipe' : 'pty',
        launch,
        environment,
        ...(name === undefined ? {} : { name }),
        ...(interactions === undefined ? {} : { interactions }),
        ...(size === undefined ? {} : { size }),
        ...(place.leaseId === null ? {} : { leaseId: place.leaseId }),
      },
      { timeoutMs: SPAWN_TIMEOUT_MS },
    );
  const { worktree, worktreeProfile, worktreeLease } = options;
  if (worktreeLease !== undefined) {
    if (worktree !== undefined) throw new UsageError('give --worktree or --worktree-lease');
    const { leasePlace } = await import('../worktree-launch.ts');
    return spawnIn(await leasePlace(context, worktreeLease));
  }
  if (worktree === undefined) return spawnIn({ directory: here, leaseId: null });
  const { giveBack, placeInWorktree } = await import('../worktree-launch.ts');
  const place = await placeInWorktree(context, { worktree, worktreeProfile, name, directory: here });
  try {
    return await spawnIn(place);
  } catch (error) {
    await giveBack(context, place);
    throw error;
  }
}

function withOptions(launch: Launch, given: readonly string[] | undefined, directory: string) {
  if (given === undefined) return launch;
  if (launch.kind === 'command') throw new UsageError('--option is for providers; a command has none');
  return { ...launch, options: readSessionOptions(given, directory) };
}

/** Refusals come first: what is both allowed and refused is refused. */
function readPolicy({
  pipe,
  allow = [],
  refuse = [],
  answerWithin,
}: RunOptions): InteractionPolicy | undefined {
  if (allow.length + refuse.length === 0 && answerWithin === undefined) return undefined;
  if (pipe !== true) throw new UsageError('--allow, --refuse and --answer-within need --pipe');
  return {
    rules: [
      ...refuse.map((tool) => ({ tool, answer: 'refuse' as const })),
      ...allow.map((tool) => ({ tool, answer: 'allow' as const })),
    ],
    deadlineMs: answerWithin === undefined ? null : readSeconds(answerWithin),
  };
}

interface Place {
  readonly directory: string;
  readonly leaseId: LeaseId | null;
}

const PROFILE_OPTIONS = [
  'set',
  'clear',
  'workspace',
  'require',
  'expectRevision',
  'deadline',
  'idempotencyKey',
] as const satisfies readonly (keyof RunOptions)[];

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}
