import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { TERMINAL_RESET, type NodeStatus, type Session } from '@roost/protocol';
import { connectTo } from '../support/node-client.ts';
import { CLI } from '../support/roost-home.ts';
import { TerminalRun } from '../support/terminal-run.ts';
import { eventually } from '../../packages/cli/src/testing/eventually.ts';

let home: string;
const runs: TerminalRun[] = [];

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'roost-home-'));
}, 60_000);
afterEach(() => {
  for (const run of runs.splice(0)) run.end();
});
afterAll(async () => {
  const status = await currentStatus().catch(() => undefined);
  await roost('down', '--sessions').catch(() => undefined);
  for (const { pid } of status?.keepers ?? []) kill(pid, 'SIGKILL');
  if (status !== undefined) kill(status.pid, 'SIGKILL');
  await rm(home, { recursive: true, force: true, maxRetries: 5 });
}, 60_000);

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone.
  }
}

function environment(): Record<string, string> {
  const { PATH = '', LANG = 'C.UTF-8' } = process.env;
  return { PATH, LANG, HOME: home, ROOST_HOME: home };
}

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function roost(...args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(process.execPath, [CLI, ...args], { env: environment() }, (error, out, err) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, out, err });
    });
  });
}

async function json<T>(...args: string[]): Promise<T> {
  const { out, err, code } = await roost(...args);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out) as T;
}

const currentStatus = () => json<NodeStatus>('status', '--json');

function inTerminal(...args: string[]): TerminalRun {
  const run = new TerminalRun([CLI, ...args], environment());
  runs.push(run);
  return run;
}

let counter = 0;
/** A session that runs `script`, with a name of its own. */
async function session(script: string, ...options: string[]): Promise<Session> {
  const name = `s${++counter}`;
  return json<Session>('run', '--json', '--name', name, ...options, '--', 'sh', '-c', script);
}

async function attached(name: string): Promise<void> {
  const connection = await connectTo({ home });
  await eventually(
    async () => (await connection.request('session.resolve', { selector: name })).attachedClients,
  ).toBe(1);
  connection.close();
}

describe('from the command line', { timeout: 60_000 }, () => {
  test('text that is sent is answered, and read from the screen', async () => {
    expect(await roost('run', '--detach', '--name', 'sum', '--', 'bash', '--norc')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^sum [0-9a-f]{16}\n$/),
      err: '',
    });
    expect(await roost('send', 'sum', 'echo $((6*7))', '--enter')).toEqual({ code: 0, out: '', err: '' });
    await eventually(async () => (await roost('logs', 'sum', '--screen')).out).toMatch(/^42$/m);
    const [listed] = (await json<Session[]>('ls', '--json')).filter(({ name }) => name === 'sum');
    expect(listed).toMatchObject({ status: 'running', provider: expect.any(String), attachedClients: 0 });
    expect((await roost('ls')).out).toMatch(/^ID +NAME .*\n(.*\n)*[0-9a-f]{8} +sum +\S+ +running/);
  });

  test('a running session is not forgotten; a stopped one is; names that are gone are said to be', async () => {
    const { name, id } = await session('sleep 100');
    expect(await roost('rm', name)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^roost: session-running: /),
    });
    expect(await roost('stop', id.slice(0, 10), '--grace', '2')).toMatchObject({
      code: 0,
      out: expect.stringContaining(`stopped ${name} (`),
    });
    expect(await roost('rm', name, 'nobody')).toMatchObject({
      code: 1,
      out: `removed ${name}\n`,
      err: expect.stringMatching(/^roost: unknown-session: .* \(nobody\)\n/),
    });
    expect((await roost('logs', name)).code).toBe(1);
  });

  test('wait tells how a session ended, and gives up in time', async () => {
    const { name } = await session('read x; exit 5');
    const early = await roost('wait', name, '--timeout', '0.2');
    expect(early).toMatchObject({ code: 1, out: 'running\n' });
    const waiting = roost('wait', name);
    await roost('send', name, '', '--enter');
    expect(await waiting).toEqual({ code: 0, out: 'exited 5\n', err: '' });
  });

  test('a pipe session gives back its bytes, both streams, while it runs and after', async () => {
    const { name } = await session('echo one; echo oops >&2; read line; printf "%s" "got $line"', '--pipe');
    const following = roost('logs', name, '--follow');
    await eventually(async () => (await roost('logs', name)).out).toBe('one\n');
    await roost('send', name, 'tüxt', '--enter');
    expect(await following).toEqual({ code: 0, out: 'one\ngot tüxt', err: '' });
    expect((await roost('logs', name, '--lines', '1')).out).toBe('got tüxt');
    expect((await roost('logs', name, '--stderr')).out).toBe('oops\n');
    expect(await roost('logs', name, '--screen')).toMatchObject({ code: 1 });
  });

  test('logs of a terminal session follow it as plain text until it ends', async () => {
    const { name } = await session(
      'printf "\\033[31mfirst\\033[m\\n"; read x; printf "\\033]0;t\\007sec\\033[1mond\\n"; exit 3',
    );
    await eventually(async () => (await roost('logs', name)).out).toBe('first\n');
    const following = spawn(process.execPath, [CLI, 'logs', name, '--follow'], {
      env: environment(),
    });
    let out = '';
    following.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    const ended = new Promise((resolve) => following.once('exit', resolve));
    await eventually(() => out).toContain('first\n');
    await attached(name);
    await roost('send', name, '', '--enter');
    expect(await ended).toBe(0);
    expect(out).toMatch(/first\n+second\n/);
  });

  test('events follow the node across its restart, each once', async () => {
    await roost('up', '--no-hub');
    const before = (await currentStatus()).lastEventSequence;
    const following = spawn(
      process.execPath,
      [CLI, 'events', '--follow', '--json', '--after', String(before)],
      { env: environment() },
    );
    let out = '';
    following.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    try {
      const sequences = () =>
        out
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => (JSON.parse(line) as { sequence: number }).sequence);
      await roost('workspace', 'add', home, '--id', 'first');
      await eventually(() => sequences().length).toBeGreaterThan(0);
      process.kill((await currentStatus()).pid, 'SIGKILL');
      await eventually(async () => (await roost('workspace', 'rm', 'first')).code).toBe(0);
      const { lastEventSequence } = await currentStatus();
      await eventually(sequences).toEqual(
        Array.from({ length: lastEventSequence - before }, (_, index) => before + 1 + index),
      );
    } finally {
      following.kill('SIGKILL');
    }
  });

  test('a node that is stopped is reported in time, and is not replaced', async () => {
    await roost('up', '--no-hub');
    const { pid } = await currentStatus();
    process.kill(pid, 'SIGSTOP');
    try {
      expect(await roost('ls')).toMatchObject({
        code: 1,
        err: expect.stringMatching(/^roost: node-unresponsive: /),
      });
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    expect((await currentStatus()).pid).toBe(pid);
  });

  test('doctor finds everything in place', async () => {
    const findings = await json<{ level: string; subject: string; text: string }[]>('doctor', '--json');
    expect(findings.filter(({ level }) => level === 'fail')).toEqual([]);
    expect(findings.map(({ subject }) => subject)).toEqual(
      expect.arrayContaining(['state directory', 'terminals', 'database', 'node', 'keeper']),
    );
  });

  test('a reader that leaves early is no failure', async () => {
    const { name } = await session('seq 1 3000', '--pipe');
    await roost('wait', name);
    const line = `"${process.execPath}" "${CLI}" logs ${name} | head -1; echo "\${PIPESTATUS[0]}"`;
    const out = await new Promise((resolve) =>
      execFile('bash', ['-c', line], { env: environment() }, (_, stdout, stderr) => resolve(stdout + stderr)),
    );
    expect(out).toBe('1\n0\n');
  });
});

describe('attached', { timeout: 60_000 }, () => {
  test('what is typed arrives, the size follows, and detaching gives the terminal back', async () => {
    const { name } = await session('exec bash --norc');
    const run = inTerminal('attach', name);
    await run.sees(/[$#] /);
    run.types('echo $((20+3)); stty size\r');
    await run.sees(/23\r+\n[^]*20 90/);
    run.resize(70, 15);
    run.types('stty size\r');
    await run.sees('15 70');
    run.types('\x1cd');
    await run.sees(TERMINAL_RESET);
    await run.sees(`[roost] detached from ${name}; roost attach ${name} returns to it`);
    expect(await run.ended).toMatchObject({ exitCode: 0 });
    expect((await roost('logs', name)).out).toContain('15 70');
  });

  test('run stays until the session ends, and says how', async () => {
    const run = inTerminal('run', '--name', 'ending', '--', 'sh', '-c', 'echo ready; read x; exit 3');
    await run.sees('ready');
    run.types('\r');
    await run.sees('[roost] ending exited with code 3');
    expect(await run.ended).toMatchObject({ exitCode: 0 });
  });

  test('what ends before one can attach is shown nevertheless', async () => {
    const run = inTerminal('run', '--name', 'quick', '--', 'echo', 'here and gone');
    await run.sees('here and gone');
    await run.sees('[roost] quick exited with code 0');
    expect(await run.ended).toMatchObject({ exitCode: 0 });
  });

  test('of two clients one drives until the other takes over', async () => {
    const { name } = await session('exec cat');
    const first = inTerminal('attach', name);
    first.types('from-first\r');
    await first.sees(/from-first\r+\n[^]*from-first/);
    const second = inTerminal('attach', name);
    await second.sees('from-first');
    second.types('ignored\r');
    await second.sees('\x07');
    second.types('\x1ctfrom-second\r');
    await first.sees('from-second');
    expect((await roost('logs', name)).out).not.toContain('ignored');
  });

  test('a watcher only looks, whatever it types', async () => {
    const { name } = await session('exec cat');
    const watcher = inTerminal('attach', name, '--watch');
    await eventually(() => watcher.shown).toContain(TERMINAL_RESET);
    watcher.types('nothing\r');
    await watcher.sees('\x07');
    watcher.types('\x1cd');
    await watcher.sees('[roost] detached');
    expect((await roost('logs', name)).out).not.toContain('nothing');
  });

  test('redraw brings the picture again', async () => {
    const { name } = await session('echo the-picture; exec cat');
    const run = inTerminal('attach', name);
    await run.sees('the-picture');
    run.types('\x1cr');
    await run.sees('the-picture');
    run.types('still-driving\r');
    await run.sees('still-driving');
  });

  test('a signal gives the terminal back, and still is what ended it', async () => {
    const { name } = await session('exec cat');
    const run = inTerminal('attach', name);
    await eventually(() => run.shown).toContain(TERMINAL_RESET);
    await attached(name);
    process.kill(run.pid, 'SIGTERM');
    expect(await run.ended).toMatchObject({ signal: 15 });
    expect(run.shown.split(TERMINAL_RESET).length).toBeGreaterThan(2);
  });

  test('the death of the node is not noticed', async () => {
    const { name } = await session('exec cat');
    const run = inTerminal('attach', name);
    run.types('before\r');
    await run.sees(/before[^]*before/);
    process.kill((await currentStatus()).pid, 'SIGKILL');
    run.types('after\r');
    await run.sees(/after[^]*after/);
  });

  test('the death of the keeper is said, after the terminal was given back', async () => {
    const { name, keeperId } = await session('exec cat');
    const run = inTerminal('attach', name);
    run.types('alive\r');
    await run.sees(/alive[^]*alive/);
    const keeper = (await currentStatus()).keepers.find(({ id }) => id === keeperId);
    process.kill(keeper!.pid, 'SIGKILL');
    await run.sees(TERMINAL_RESET);
    await run.sees('roost: session-lost: ');
    expect(await run.ended).toMatchObject({ exitCode: 1 });
  });
});

test('a node in the foreground says where it listens, keeps its place, and ends with the signal', async () => {
  const other = await mkdtemp(join(tmpdir(), 'roost-home-'));
  const start = () =>
    spawn(process.execPath, [CLI, 'up', '--foreground', '--no-hub', '--home', other], { env: environment() });
  const first = start();
  try {
    let out = '';
    first.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    await eventually(() => out).toBe(`listening at ${join(other, 'node.sock')}\n`);
    const second = start();
    let err = '';
    second.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    expect(await new Promise((resolve) => second.once('close', resolve))).toBe(1);
    expect(err).toMatch(/^roost: node-already-running: .*\n {2}.*roost doctor\n$/);
    const { keepers } = await json<NodeStatus>('status', '--json', '--home', other);
    first.kill('SIGTERM');
    expect(await new Promise((resolve) => first.once('close', resolve))).toBe(0);
    for (const { pid } of keepers) kill(pid, 'SIGKILL');
    expect((await roost('ls', '--no-start', '--home', other)).code).toBe(1);
  } finally {
    first.kill('SIGTERM');
    await rm(other, { recursive: true, force: true, maxRetries: 5 });
  }
});
