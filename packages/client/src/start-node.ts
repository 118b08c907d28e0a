/**
 * Starts a node as a process of its own, which outlives whoever started it, and waits until it says that it is ready. It
 * never decides that a node is dead: the node's own lock refuses a second one.
 */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Failure, FailureError } from '@roost/protocol';
import { assertSocketPath, systemCode } from './open-socket.ts';
import { hubHomePath, hubSocketPath, nodeSocketPath } from './home.ts';

/** Milliseconds that a node may take to become ready: a big database is checked and keepers are adopted first. */
export const START_WAIT_MS = 20_000;
/** Bytes of the one line that tells how the start went. */
const READY_LINE_BYTES_MAX = 64 * 1024;
/** Mark of the session that the caller itself runs in: it would make every session look like its child. */
const SESSION_MARK = 'ROOST_SESSION_ID';

export interface StartOptions {
  readonly home: string;
  /** The node's program. */
  readonly script: string;
  readonly waitMs?: number;
  /** The caller's environment: providers need its PATH and keys. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Resolves when the node is ready; fails with the node's own reason, or `node-start-failed`. */
export async function startNode(options: StartOptions): Promise<void> {
  assertSocketPath(nodeSocketPath(options.home));
  await startProcess({ ...options, outputDirectory: options.home, outputName: 'node.out', extra: [] });
}

/** The same for the hub of this machine, whose directory is in that of its node. */
export async function startHub(options: StartOptions): Promise<void> {
  const { home } = options;
  assertSocketPath(hubSocketPath(home));
  await startProcess({
    ...options,
    home: hubHomePath(home),
    outputDirectory: home,
    outputName: 'hub.out',
    extra: ['--node-socket', nodeSocketPath(home)],
  });
}

interface ProcessOptions extends StartOptions {
  /** Its `logs` directory gets what the process prints. */
  readonly outputDirectory: string;
  readonly outputName: string;
  readonly extra: readonly string[];
}

async function startProcess(options: ProcessOptions): Promise<void> {
  const {
    home,
    script,
    waitMs = START_WAIT_MS,
    env = process.env,
    outputDirectory,
    outputName,
    extra,
  } = options;
  const path = join(outputDirectory, 'logs', outputName);
  const output = openOutput(outputDirectory, path);
  try {
    const child = spawn(process.execPath, [script, '--home', home, ...extra, '--ready-fd', '3'], {
      detached: true,
      cwd: '/',
      env: nodeEnvironment(env),
      stdio: ['ignore', output, output, 'pipe'],
    });
    const failed = new Promise<never>((_, reject) => {
      child.once('error', (cause) =>
        reject(new FailureError('node-start-failed', { reason: systemCode(cause) ?? 'spawn' }, { cause })),
      );
    });
    child.unref();
    const pipe = child.stdio[3] as Readable | null;
    if (pipe === null) await failed;
    else {
      try {
        await Promise.race([failed, readReadyLine(pipe, waitMs, path)]);
      } finally {
        pipe.destroy();
      }
    }
  } finally {
    closeSync(output);
  }
}

/** Where its own standard output and error go: what a crash prints before the log is open. */
function openOutput(directory: string, path: string): number {
  try {
    mkdirSync(join(directory, 'logs'), { recursive: true, mode: 0o700 });
    return openSync(path, 'a', 0o600);
  } catch (cause) {
    const code = systemCode(cause);
    if (code === 'ENOSPC') throw new FailureError('storage-full', { path }, { cause });
    throw new FailureError('home-unusable', { path: directory, reason: code ?? 'unknown' }, { cause });
  }
}

/**
 * Threads of the node for files: the four things that may be under way in workspaces at once can all hang in a file system that is
 * gone, and the node still needs some of its own. It can be told to a process before it starts only.
 */
const FILE_THREADS = '8';

/** The caller's environment without the mark of its own session. */
export function nodeEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const kept = Object.entries(env).filter(([name]) => name !== SESSION_MARK);
  return { UV_THREADPOOL_SIZE: FILE_THREADS, ...Object.fromEntries(kept), ROOST_PROCESS: 'node' };
}

/** A node that dies before it wrote its line closes the pipe. */
function readReadyLine(pipe: Readable, waitMs: number, log: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(
      () => reject(new FailureError('node-start-failed', { reason: `not ready within ${waitMs} ms`, log })),
      waitMs,
    );
    const finish = (outcome: () => void): void => {
      clearTimeout(timer);
      outcome();
    };
    const died = (): void =>
      finish(() =>
        reject(new FailureError('node-start-failed', { reason: 'it ended before it was ready', log })),
      );
    pipe.setEncoding('utf8');
    pipe.on('error', died);
    pipe.on('close', died);
    pipe.on('end', died);
    pipe.on('data', (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end < 0) {
        if (text.length > READY_LINE_BYTES_MAX) pipe.destroy();
        return;
      }
      const outcome = parseReadyLine(text.slice(0, end));
      finish(() => {
        if (outcome === 'ready') resolve();
        else reject(outcome);
      });
    });
  });
}

/** What the node writes when it is ready, or cannot be: `{"ready":true}` or `{"failure":{...}}`. */
export function parseReadyLine(line: string): 'ready' | FailureError {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return new FailureError('node-start-failed', { reason: 'it said something else than ready' });
  }
  if (typeof value === 'object' && value !== null) {
    if ('ready' in value && value.ready === true) return 'ready';
    const failure = 'failure' in value ? Failure.safeParse(value.failure) : undefined;
    if (failure?.success === true) return FailureError.from(failure.data);
  }
  return new FailureError('node-start-failed', { reason: 'it said something else than ready' });
}
