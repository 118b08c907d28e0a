// Asks programs for their versions, and remembers the answers for as long as the files are the same. Whoever asks while somebody else
// does gets the same answer. A program is foreign: it gets little to know, an empty directory to write in, and little time.
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ProviderFault } from '@roost/protocol';
import type { ProviderManifest, ProviderVersion } from '@roost/providers';
import { runCommand, type CommandOutcome } from '../commands/run-command.ts';
import { packageVersion } from './package-version.ts';
import { parseVersion } from './parse-version.ts';
import { resolveProgram } from './resolve-program.ts';

/** Milliseconds in which a program tells its version: scripts with a large heap take one or two. */
const PROBE_MS = 5_000;
/** Bytes of each of its outputs. */
const OUTPUT_BYTES_MAX = 16 * 1024;
/** Programs asked at once: more would take the machine away from whoever waits for one of them. */
const AT_ONCE_MAX = 3;
/** Answers that are remembered; of programs, there are fewer. */
const REMEMBERED_MAX = 256;
/** Milliseconds after which one that was too slow is asked again: it may have been the machine. */
const RETRY_MS = 60_000;

export interface ProbeOutcome {
  /** The file behind links and scripts; null when something on the way is gone. */
  readonly program: string | null;
  readonly version: string | null;
  readonly versionFrom: 'program' | 'package' | null;
  readonly fault: ProviderFault | null;
}

export interface Probe {
  readonly provider: Pick<ProviderManifest, 'id'> & { readonly version: ProviderVersion };
  readonly path: string;
  /** What a session of that provider would have, of which the probe gets a few variables. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

interface Remembered {
  readonly outcome: ProbeOutcome;
  /** Milliseconds of a clock that only goes forward. */
  readonly at: number;
}

export class VersionProbe {
  readonly #remembered = new Map<string, Remembered>();
  readonly #running = new Map<string, Promise<ProbeOutcome>>();
  readonly #turns: (() => void)[] = [];
  readonly #stop = new AbortController();
  readonly #timeoutMs: number;
  #busy = 0;

  constructor(timeoutMs = PROBE_MS) {
    this.#timeoutMs = timeoutMs;
  }

  /** What is known by now; null: it has not been asked, or its files have changed since. */
  known({ provider, path }: Probe): ProbeOutcome | null {
    const resolved = resolveProgram(path);
    if ('fault' in resolved) return failed(null, resolved.fault);
    return this.#recall(keyOf(provider, resolved.signature));
  }

  /** Never throws. `afresh`: whatever is known, unless it is being asked just now. */
  ask(probe: Probe, afresh = false): Promise<ProbeOutcome> {
    const resolved = resolveProgram(probe.path);
    if ('fault' in resolved) return Promise.resolve(failed(null, resolved.fault));
    const { program, signature } = resolved;
    const key = keyOf(probe.provider, signature);
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const known = afresh ? null : this.#recall(key);
    if (known !== null) return Promise.resolve(known);
    const asking = this.#inTurn(() => this.#ask(probe, program)).then((outcome) => {
      this.#running.delete(key);
      if (!this.#stop.signal.aborted) this.#remember(key, outcome);
      return outcome;
    });
    this.#running.set(key, asking);
    return asking;
  }

  /** Ends what is being asked. */
  close(): void {
    this.#stop.abort();
  }

  async #ask({ provider, path, environment }: Probe, program: string): Promise<ProbeOutcome> {
    const { version } = provider;
    let scratch: string;
    try {
      scratch = mkdtempSync(join(tmpdir(), 'roost-probe-'));
    } catch {
      return failed(program, 'not-started');
    }
    try {
      const outcome = await runCommand({
        // Behind a script that only leads to it, the program itself: no shell runs.
        program: isExecutable(program) ? program : path,
        args: version.arguments,
        directory: scratch,
        environment: probeEnvironment(environment, path, version.scratchHome ? scratch : null),
        timeoutMs: this.#timeoutMs,
        stdoutBytesMax: OUTPUT_BYTES_MAX,
        stderrBytesMax: OUTPUT_BYTES_MAX,
        beyondStdout: 'kill',
        signal: this.#stop.signal,
      });
      return outcomeOf(outcome, program);
    } finally {
      forget(scratch);
    }
  }

  async #inTurn<Outcome>(work: () => Promise<Outcome>): Promise<Outcome> {
    if (this.#busy >= AT_ONCE_MAX) await new Promise<void>((resolve) => this.#turns.push(resolve));
    else this.#busy += 1;
    try {
      return await work();
    } finally {
      const next = this.#turns.shift();
      if (next === undefined) this.#busy -= 1;
      else next();
    }
  }

  #recall(key: string): ProbeOutcome | null {
    const remembered = this.#remembered.get(key);
    if (remembered === undefined) return null;
    const { outcome, at } = remembered;
    const mayBeDifferent = outcome.fault === 'timed-out' || outcome.fault === 'not-started';
    return mayBeDifferent && performance.now() - at > RETRY_MS ? null : outcome;
  }

  #remember(key: string, outcome: ProbeOutcome): void {
    this.#remembered.delete(key);
    this.#remembered.set(key, { outcome, at: performance.now() });
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > REMEMBERED_MAX && oldest !== undefined) this.#remembered.delete(oldest);
  }
}

function outcomeOf(outcome: CommandOutcome, program: string): ProbeOutcome {
  const { exitCode, startError, timedOut, truncated, stdout, stderr } = outcome;
  if (startError !== null) return failed(program, startError === 'ENOENT' ? 'target-gone' : 'not-started');
  if (timedOut) {
    const version = packageVersion(program);
    if (version === null) return failed(program, 'timed-out');
    return { program, version, versionFrom: 'package', fault: null };
  }
  if (truncated) return failed(program, 'too-much-output');
  if (exitCode !== 0) return failed(program, 'failed');
  const parsed = parseVersion(stdout.toString('utf8'), stderr.toString('utf8'));
  if ('fault' in parsed) return failed(program, parsed.fault);
  return { program, version: parsed.version, versionFrom: 'program', fault: null };
}

function failed(program: string | null, fault: ProviderFault): ProbeOutcome {
  return { program, version: null, versionFrom: null, fault };
}

/** Who the user is and where programs are; nothing that is worth anything to anybody else. */
const PROBE_ENVIRONMENT = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'TMPDIR'] as const;

function probeEnvironment(
  environment: Probe['environment'],
  path: string,
  home: string | null,
): Record<string, string> {
  const chosen: Record<string, string> = {};
  for (const name of PROBE_ENVIRONMENT) {
    const value = environment[name];
    if (value !== undefined) chosen[name] = value;
  }
  // An installer's script looks for its interpreter beside itself.
  chosen.PATH = [chosen.PATH, dirname(path)].filter((part) => part !== undefined && part !== '').join(':');
  return home === null ? chosen : { ...chosen, HOME: home };
}

function keyOf({ id, version }: Probe['provider'], signature: string): string {
  return JSON.stringify([id, version.arguments, version.scratchHome, signature]);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function forget(directory: string): void {
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch {
    // Something of the program writes there still; the system's own tidying takes it.
  }
}
