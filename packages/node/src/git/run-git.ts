// One git command, bounded in time and output. Nothing of the caller's environment that changes what git does reaches it: no
// pager, no prompt, no other repository, no file system monitor, and reads take no locks.
import { childEnvironment } from '@roost/providers';
import { runCommand, type CommandOutcome } from '../commands/run-command.ts';

export interface GitCommand {
  /** `git -C directory`. */
  readonly directory: string;
  readonly args: readonly string[];
  /** `read`: takes no optional lock, runs no hook. `change`: the repository's hooks run as in the person's own terminal. */
  readonly effect: 'read' | 'change';
  /** Milliseconds. */
  readonly timeoutMs: number;
  /** Bytes of standard output. */
  readonly stdoutBytesMax: number;
  readonly signal?: AbortSignal | undefined;
  /** Called with git's process as soon as it has been started. */
  readonly started?: ((pid: number) => void) | undefined;
  /** Settings that win over every configuration file. */
  readonly settings?: readonly GitSetting[];
  /** More environment: where git finds its index, where it puts objects. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface GitSetting {
  readonly name: string;
  readonly value: string;
}

export interface GitSource {
  /** The environment that git gets a selection of. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Milliseconds that a change has to undo what it made halfway, when its time is over. */
const CHANGE_GRACE_MS = 5_000;
/** Bytes kept of standard error: enough for what git says first. */
const STDERR_BYTES_MAX = 4_096;

const ALWAYS = [
  '--no-pager',
  '--literal-pathspecs',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'core.quotepath=false',
];
const READING = ['-c', 'core.hooksPath=/dev/null'];
/** Of a repository that has a part of its objects elsewhere, a read would fetch: over a program that the repository names. */
const READING_ENVIRONMENT = {
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
  // For a git that does not know the line before. No protocol has that name.
  GIT_ALLOW_PROTOCOL: 'none',
};

export function runGit(source: GitSource, command: GitCommand): Promise<CommandOutcome> {
  const { directory, args, effect, timeoutMs, stdoutBytesMax, signal, started } = command;
  const { settings = [], environment = {} } = command;
  const isRead = effect === 'read';
  return runCommand({
    program: 'git',
    args: [
      ...ALWAYS,
      ...(isRead ? READING : []),
      ...settings.flatMap(({ name, value }, index) =>
        // After `-c`, a name ends at its first equals sign.
        name.includes('=') ? [`--config-env=${name}=${settingVariable(index)}`] : ['-c', `${name}=${value}`],
      ),
      '-C',
      directory,
      ...args,
    ],
    // The directory is named to git itself, which says what is wrong with it.
    directory: '/',
    environment: childEnvironment({
      parent: source.environment,
      inherit: [],
      scrub: [],
      set: {
        LC_ALL: 'C',
        GIT_TERMINAL_PROMPT: '0',
        GIT_PAGER: 'cat',
        ...(isRead ? READING_ENVIRONMENT : {}),
        ...Object.fromEntries(settings.map(({ value }, index) => [settingVariable(index), value])),
        ...environment,
      },
    }),
    timeoutMs,
    stdoutBytesMax,
    stderrBytesMax: STDERR_BYTES_MAX,
    beyondStdout: isRead ? 'kill' : 'drop',
    signal,
    graceMs: isRead ? 0 : CHANGE_GRACE_MS,
    started,
  });
}

function settingVariable(index: number): string {
  return `SETTING_${index}`;
}
