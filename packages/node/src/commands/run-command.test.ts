import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand, type Command } from './run-command.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'roost-command-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const run = (script: string, more: Partial<Command> = {}) =>
  runCommand({
    program: '/bin/sh',
    args: ['-c', script],
    directory,
    environment: { PATH: process.env.PATH ?? '' },
    timeoutMs: 20_000,
    stdoutBytesMax: 1_000,
    stderrBytesMax: 10,
    beyondStdout: 'kill',
    ...more,
  });
const pidIn = (name: string) => Number(readFileSync(join(directory, name), 'utf8'));
const runs = (pid: number) => {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
};

describe('a bounded command', () => {
  it('tells its output and exit code', async () => {
    const outcome = await run('echo out; echo err >&2; exit 3');
    expect(outcome).toMatchObject({ exitCode: 3, truncated: false, timedOut: false, startError: null });
    expect([String(outcome.stdout), String(outcome.stderr)]).toEqual(['out\n', 'err\n']);
  });

  it('has a whole answer when only what it says beside that is cut', async () => {
    expect(await run('echo out; printf %020d 0 >&2')).toMatchObject({
      exitCode: 0,
      truncated: false,
      stderrTruncated: true,
    });
    expect(await run('printf %02000d 0', { beyondStdout: 'drop' })).toMatchObject({
      exitCode: 0,
      truncated: true,
      stderrTruncated: false,
    });
  });

  it('gets no more environment than it is given', async () => {
    const outcome = await run('env | grep -v ^PWD= | grep -v ^SHLVL= | grep -v ^_=', {
      environment: { PATH: '/usr/bin:/bin', ONLY: 'this' },
    });
    expect(String(outcome.stdout).trim().split('\n').sort()).toEqual(['ONLY=this', 'PATH=/usr/bin:/bin']);
  });

  it('says why it could not be started', async () => {
    expect(await run('', { program: '/nonexistent/program' })).toMatchObject({
      exitCode: null,
      startError: 'ENOENT',
    });
  });

  it('is killed with its children when its time is over', async () => {
    const outcome = await run('sleep 60 & echo $! > child; wait', { timeoutMs: 500 });
    expect(outcome).toMatchObject({ timedOut: true, exitCode: null });
    await expect.poll(() => runs(pidIn('child'))).toBe(false);
  });

  it('is killed when it is no longer wanted', async () => {
    const stop = new AbortController();
    const running = run('echo $$ > self; sleep 60', { signal: stop.signal });
    await expect.poll(() => existsSync(join(directory, 'self'))).toBe(true);
    stop.abort();
    expect(await running).toMatchObject({ timedOut: true });
  });

  it('is not started when nobody wants it any more', async () => {
    expect(await run('touch here', { signal: AbortSignal.abort() })).toMatchObject({ timedOut: true });
    expect(await run('touch here', { timeoutMs: 0 })).toMatchObject({ timedOut: true });
    expect(existsSync(join(directory, 'here'))).toBe(false);
  });

  it('that prints without end is cut and killed', async () => {
    const outcome = await run('yes');
    expect(outcome).toMatchObject({ truncated: true, timedOut: false });
    expect(outcome.stdout.length).toBe(1_000);
  });

  it('that may go on printing comes to its end, cut', async () => {
    const outcome = await run('head -c 100000 /dev/zero; exit 4', { beyondStdout: 'drop' });
    expect(outcome).toMatchObject({ truncated: true, exitCode: 4 });
    expect(outcome.stdout.length).toBe(1_000);
  });

  it('leaves nothing behind that holds its output', async () => {
    const outcome = await run('sleep 60 & echo $! > child; echo done');
    expect(String(outcome.stdout)).toBe('done\n');
    expect(outcome).toMatchObject({ exitCode: 0, timedOut: false });
    await expect.poll(() => runs(pidIn('child'))).toBe(false);
  });
});
