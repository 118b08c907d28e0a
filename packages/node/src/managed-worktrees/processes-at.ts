// Programs that name a worktree's directory in their words: git at work on it goes on when the node that started it was killed.
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { runCommand } from '../commands/run-command.ts';

/** Milliseconds between looks at all programs: ever longer, as whoever is still at it then takes long anyway. */
const POLL_MS_FIRST = 100;
const POLL_MS_MAX = 2_000;
const LIST_MS = 10_000;
const LIST_BYTES_MAX = 16 * 1024 * 1024;

export interface QuietOptions {
  /** Milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called when the first look found somebody. */
  readonly waits: () => void;
}

/** false: somebody is still at work there when the time is over. */
export async function quiet(target: string, { timeoutMs, signal, waits }: QuietOptions): Promise<boolean> {
  const until = performance.now() + timeoutMs;
  for (let pause = POLL_MS_FIRST; await isNamed(target); pause = Math.min(pause * 1.5, POLL_MS_MAX)) {
    if (performance.now() >= until || signal.aborted) return false;
    waits();
    await delay(Math.min(pause, until - performance.now()), undefined, { signal }).catch(() => undefined);
  }
  return true;
}

async function isNamed(target: string): Promise<boolean> {
  for (const words of await commandLines()) if (words.includes(target)) return true;
  return false;
}

async function commandLines(): Promise<string[]> {
  if (process.platform !== 'linux') {
    const ps = await runCommand({
      program: 'ps',
      args: ['-axww', '-o', 'command='],
      directory: '/',
      environment: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
      timeoutMs: LIST_MS,
      stdoutBytesMax: LIST_BYTES_MAX,
      stderrBytesMax: 0,
      beyondStdout: 'drop',
    });
    return ps.stdout.toString('utf8').split('\n');
  }
  const own = String(process.pid);
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && name !== own);
  return Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
}
