// One short-lived program, bounded in time and output, ended as a whole tree: it leads a process group of its own.
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly directory: string;
  /** The whole environment: nothing of the node's own is added. */
  readonly environment: Readonly<Record<string, string>>;
  /** Milliseconds; when they are over, the group is killed. */
  readonly timeoutMs: number;
  /** Bytes kept of standard output; one more, and the group is killed. */
  readonly stdoutBytesMax: number;
  /** Bytes kept of standard error; what comes beyond is read and dropped. */
  readonly stderrBytesMax: number;
  /** `kill`: what exceeds the output is not wanted. `drop`: the program runs on, its further output is dropped. */
  readonly beyondStdout: 'kill' | 'drop';
  /** Aborted: the group is killed, as when the time is over. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds between a polite request to end (SIGTERM), which some programs use to tidy up, and the kill; 0 unless given. */
  readonly graceMs?: number;
  /** Called before anything else happens, with the process that was started. */
  readonly started?: ((pid: number) => void) | undefined;
}

export interface CommandOutcome {
  /** Exit code; null when a signal ended it or it could not be started. */
  readonly exitCode: number | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** Whether standard output was cut: then it is no whole answer. */
  readonly truncated: boolean;
  /** The same of standard error, where a talkative program says nothing that an answer needs. */
  readonly stderrTruncated: boolean;
  /** Whether time or the signal ended it. */
  readonly timedOut: boolean;
  /** Why it could not be started, such as ENOENT. */
  readonly startError: string | null;
}

/** Milliseconds in which a killed program's descriptors must close; one that left its group may hold them for ever. */
const CLOSE_AFTER_KILL_MS = 1_000;

/** The longest that a timer of the platform can wait. */
const TIMER_MS_MAX = 0x7fffffff;

/** Runs it to its end, or to the end of its time. Never throws: how it went is the outcome. */
export function runCommand(command: Command): Promise<CommandOutcome> {
  const { program, args, directory, environment, timeoutMs, signal, graceMs = 0 } = command;
  return new Promise((resolve) => {
    const outcome = { exitCode: null as number | null, timedOut: false, startError: null as string | null };
    if (signal?.aborted === true || timeoutMs <= 0) {
      const none = Buffer.alloc(0);
      const whole = { truncated: false, stderrTruncated: false };
      resolve({ ...outcome, timedOut: true, stdout: none, stderr: none, ...whole });
      return;
    }
    const child = spawn(program, args, {
      cwd: directory,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    const end = () => {
      killGroup(child.pid);
      closing ??= setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, CLOSE_AFTER_KILL_MS);
    };
    const kill = () => {
      if (graceMs <= 0) {
        end();
        return;
      }
      killGroup(child.pid, 'SIGTERM');
      ending ??= setTimeout(end, graceMs);
    };
    const timeOut = () => {
      outcome.timedOut = true;
      kill();
    };
    let closing: NodeJS.Timeout | undefined;
    let ending: NodeJS.Timeout | undefined;
    if (child.pid !== undefined) command.started?.(child.pid);
    const timer = setTimeout(timeOut, Math.min(timeoutMs, TIMER_MS_MAX));
    signal?.addEventListener('abort', timeOut, { once: true });
    const stdout = collect(child.stdout, command.stdoutBytesMax, () => {
      if (command.beyondStdout === 'kill') kill();
    });
    const stderr = collect(child.stderr, command.stderrBytesMax, () => undefined);
    child.once('error', (error: NodeJS.ErrnoException) => {
      outcome.startError ??= error.code ?? 'UNKNOWN';
    });
    child.once('exit', (code) => {
      outcome.exitCode = code;
      // What it left behind in its group would hold the pipes, and goes on with nobody who knows of it.
      if (code !== null || !outcome.timedOut) killGroup(child.pid);
    });
    child.once('close', () => {
      clearTimeout(timer);
      clearTimeout(closing);
      clearTimeout(ending);
      signal?.removeEventListener('abort', timeOut);
      resolve({
        ...outcome,
        stdout: stdout.bytes(),
        stderr: stderr.bytes(),
        truncated: stdout.isCut(),
        stderrTruncated: stderr.isCut(),
      });
    });
  });
}

function collect(stream: Readable, bytesMax: number, onCut: () => void) {
  const chunks: Buffer[] = [];
  let held = 0;
  let cut = false;
  stream.on('data', (chunk: Buffer) => {
    const room = bytesMax - held;
    if (chunk.length > room && !cut) {
      cut = true;
      onCut();
    }
    if (room <= 0) return;
    const kept = chunk.length > room ? chunk.subarray(0, room) : chunk;
    chunks.push(kept);
    held += kept.length;
  });
  return { bytes: () => Buffer.concat(chunks), isCut: () => cut };
}

function killGroup(pid: number | undefined, signal: 'SIGTERM' | 'SIGKILL' = 'SIGKILL'): void {
  if (pid === undefined) return;
  try {
    if (process.platform === 'win32') process.kill(pid, signal);
    else process.kill(-pid, signal);
  } catch {
    // Nobody is left in it.
  }
}
