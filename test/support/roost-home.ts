/**
 * A Roost of its own for a test: fresh ROOST_HOME and HOME in a temporary directory, the built command, and an end that
 * leaves no process behind.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  FailureError,
  type OperationName,
  type ParamsInput,
  type Result,
  type Session,
} from '@roost/protocol';
import { screenText } from '../../packages/cli/src/screen-text.ts';
import { connectTo } from './node-client.ts';
import { Terminal } from './terminal.ts';
import { waitFor } from './wait-for.ts';

export const CLI = new URL('../../packages/cli/dist/roost.js', import.meta.url).pathname;
export const LAB_AGENT = new URL('../../packages/lab/dist/lab-agent.js', import.meta.url).pathname;

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class RoostHome implements AsyncDisposable {
  readonly root: string;
  readonly home: string;
  readonly work: string;
  readonly environment: Record<string, string>;
  readonly #command: readonly string[];
  readonly #terminals: Terminal[] = [];

  /** `prefix`: words of a command that runs others, such as in another network. */
  constructor(
    options: { home?: string; environment?: Record<string, string>; prefix?: readonly string[] } = {},
  ) {
    this.#command = [...(options.prefix ?? []), process.execPath, CLI];
    this.root = mkdtempSync(join(tmpdir(), 'roost-test-'));
    this.home = options.home ?? join(this.root, 'state');
    this.work = join(this.root, 'work');
    mkdirSync(this.work);
    mkdirSync(join(this.root, 'user'));
    this.environment = {
      PATH: process.env.PATH ?? '/usr/bin:/bin',
      HOME: join(this.root, 'user'),
      SHELL: '/bin/bash',
      LANG: 'C.UTF-8',
      TERM: 'xterm-256color',
      ROOST_HOME: this.home,
      ...options.environment,
    };
  }

  /** Runs the command to its end. */
  roost(
    args: readonly string[],
    options: { input?: string; timeoutMs?: number; cwd?: string } = {},
  ): Promise<Ran> {
    return new Promise((resolve, reject) => {
      const [file = '', ...words] = this.#command;
      const child = spawn(file, [...words, ...args], {
        cwd: options.cwd ?? this.work,
        env: this.environment,
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      let [stdout, stderr] = ['', ''];
      child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      child.stdin.on('error', () => undefined);
      child.stdin.end(options.input ?? '');
      const timer = setTimeout(() => child.kill('SIGKILL'), options.timeoutMs ?? 60_000);
      child.on('error', reject);
      child.on('close', (code) => {
        clearTimeout(timer);
        resolve({ code, stdout, stderr });
      });
    });
  }

  /** Runs the command, expects 0, gives standard output. */
  async ok(
    args: readonly string[],
    options: { input?: string; timeoutMs?: number; cwd?: string } = {},
  ): Promise<string> {
    const { code, stdout, stderr } = await this.roost(args, options);
    if (code !== 0) throw new Error(`roost ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`);
    return stdout;
  }

  async json<T>(args: readonly string[]): Promise<T> {
    return JSON.parse(await this.ok([...args, '--json'])) as T;
  }

  /** One request to the node, without a process for it. As a command would, it starts a node where none runs any more. */
  async request<Name extends OperationName>(name: Name, params: ParamsInput<Name>): Promise<Result<Name>> {
    try {
      return await this.#ask(name, params);
    } catch (error) {
      if (!saysNoNode(error)) throw error;
      await this.ok(['up', '--no-hub']);
      return this.#ask(name, params);
    }
  }

  async #ask<Name extends OperationName>(name: Name, params: ParamsInput<Name>): Promise<Result<Name>> {
    const connection = await connectTo(this);
    try {
      return await connection.request(name, params);
    } finally {
      connection.close();
    }
  }

  async sessions(): Promise<readonly Session[]> {
    return (await this.request('session.list', { includeEnded: true })).sessions;
  }

  async session(name: string): Promise<Session> {
    const found = (await this.sessions()).find((one) => one.name === name);
    if (found === undefined) throw new Error(`no session ${name}`);
    return found;
  }

  /** Spawns detached; gives the session. */
  async run(name: string, command: readonly string[], flags: readonly string[] = []): Promise<Session> {
    await this.ok(['run', '--detach', '--name', name, ...flags, '--', ...command]);
    return this.session(name);
  }

  async screen(name: string): Promise<string> {
    const { id } = await this.request('session.resolve', { selector: name });
    return screenText((await this.request('session.readScreen', { sessionId: id, scrollback: 0 })).lines);
  }

  /** Waits until the screen of a session matches. */
  screenShows(name: string, pattern: RegExp, timeoutMs = 15_000): Promise<string> {
    let last = '';
    return waitFor(
      `${name} to show ${String(pattern)}`,
      async () => {
        last = await this.screen(name);
        return pattern.test(last) ? last : null;
      },
      { timeoutMs, state: () => last.split('\n') },
    );
  }

  /** The command in a terminal. */
  terminal(
    args: readonly string[],
    size: { columns: number; rows: number } = { columns: 80, rows: 24 },
  ): Terminal {
    const [file = '', ...words] = this.#command;
    const terminal = new Terminal(file, [...words, ...args], {
      cwd: this.work,
      env: this.environment,
      ...size,
    });
    this.#terminals.push(terminal);
    return terminal;
  }

  async nodePid(): Promise<number> {
    return (await this.request('node.status', {})).pid;
  }

  keeperPids(): number[] {
    const directory = join(this.home, 'keepers');
    return listed(directory)
      .filter((name) => name.endsWith('.json'))
      .map((name) => (JSON.parse(readFileSync(join(directory, name), 'utf8')) as { pid: number }).pid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const terminal of this.#terminals) terminal.dispose();
    await this.#endSessions();
    for (const pid of [...this.keeperPids(), ...this.daemons()]) signal(pid, 'SIGTERM');
    await waitFor('every process of the test to end', () => this.daemons().length === 0, {
      timeoutMs: 15_000,
      state: () => this.daemons(),
    });
    rmSync(this.root, { recursive: true, force: true });
  }

  /** Where no node answers, the keepers end them. */
  async #endSessions(): Promise<void> {
    try {
      const connection = await connectTo(this);
      await connection.request('node.shutdown', { stopSessions: true }, { timeoutMs: 30_000 });
      connection.close();
    } catch (error) {
      if (!(error instanceof FailureError)) throw error;
    }
  }

  /** Node and keepers of this state directory: whatever holds a file of it open. Their titles hide their arguments. */
  daemons(): number[] {
    return listed('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) =>
        listed(`/proc/${pid}/fd`).some((descriptor) =>
          linkTarget(`/proc/${pid}/fd/${descriptor}`).startsWith(`${this.home}/`),
        ),
      );
  }
}

/** Without a start there is no token yet; one that was killed just now may still be connected to. */
function saysNoNode(error: unknown): boolean {
  const codes = ['node-not-running', 'home-unusable', 'connection-lost'];
  return error instanceof FailureError && codes.includes(error.failure.code);
}

function linkTarget(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function listed(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Gone already.
  }
}

export function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z');
  } catch {
    return false;
  }
}
