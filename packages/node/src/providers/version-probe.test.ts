import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitFor } from '../node-for-test.ts';
import { parseVersion } from './parse-version.ts';
import { TestPrograms } from './programs-for-test.ts';
import { VersionProbe, type Probe } from './version-probe.ts';

describe('the version in what a program prints', () => {
  it.each([
    ['2.1.197 (Claude Code)\n', '', { version: '2.1.197' }],
    ['codex-cli 0.171.0\n', 'WARNING: 1.0.0 is out\n', { version: '0.171.0' }],
    ['', 'v1.2.3\n', { version: '1.2.3' }],
    ['agent 1.2.3, again: 1.2.3\n', '', { version: '1.2.3' }],
    ['2025.09.18-7ae6800\n', '', { version: '2025.09.18-7ae6800' }],
    ['1.2.3 (node 20.1.0)\n', '', { fault: 'version-ambiguous' }],
    ['', '', { fault: 'version-missing' }],
    ['hello\n', 'there\n', { fault: 'version-missing' }],
    ['version 9.9\n', '', { fault: 'version-unparseable' }],
    ['1.2.3.4\n', '', { fault: 'version-unparseable' }],
  ])('%j beside %j is %j', (stdout, stderr, expected) => {
    expect(parseVersion(stdout, stderr)).toEqual(expected);
  });
});

describe('a probe', () => {
  let programs: TestPrograms;
  let probe: VersionProbe;
  beforeEach(() => {
    programs = new TestPrograms();
    // Long enough for a machine that does much else.
    probe = new VersionProbe(20_000);
  });
  afterEach(() => {
    probe.close();
    programs.remove();
  });

  const of = (path: string, scratchHome = false): Probe => ({
    provider: { id: 'agent', version: { arguments: ['--version'], scratchHome, known: null } },
    path,
    environment: programs.environment,
  });

  it('runs the program once for all who ask, and again when it has changed', async () => {
    const path = programs.script('agent', 'sleep 0.1; echo 1.0.0');
    expect(probe.known(of(path))).toBeNull();
    const outcomes = await Promise.all([probe.ask(of(path)), probe.ask(of(path)), probe.ask(of(path), true)]);
    expect(outcomes.map(({ version }) => version)).toEqual(['1.0.0', '1.0.0', '1.0.0']);
    await probe.ask(of(path));
    expect(programs.runs).toBe(1);
    expect(probe.known(of(path))).toMatchObject({ version: '1.0.0', program: path, versionFrom: 'program' });
    // As an updater does, with a file of the same length.
    renameSync(programs.script('new', 'sleep 0.1; echo 2.0.0'), path);
    expect(probe.known(of(path))).toBeNull();
    expect(await probe.ask(of(path))).toMatchObject({ version: '2.0.0' });
    expect(programs.runs).toBe(2);
  });

  it('remembers failures, too, unless asked anew', async () => {
    const path = programs.script('agent', 'echo nothing; exit 3');
    expect(await probe.ask(of(path))).toMatchObject({ version: null, fault: 'failed' });
    expect(await probe.ask(of(path))).toMatchObject({ fault: 'failed' });
    expect(programs.runs).toBe(1);
    await probe.ask(of(path), true);
    expect(programs.runs).toBe(2);
  });

  it('gives exactly its arguments, little of the environment, and an empty directory', async () => {
    const path = programs.script(
      'agent',
      `printf '%s|' "$#" "$1" "$HOME" "$PWD" > '${programs.root}/seen'; env >> '${programs.root}/seen'; ls -A >> '${programs.root}/seen'; touch "$HOME/made"; echo 1.0.0`,
    );
    const asked = { ...of(path, true), environment: { ...programs.environment, SECRET_KEY: 'secret' } };
    expect(await probe.ask(asked)).toMatchObject({ version: '1.0.0' });
    const [count, argument, home, directory, rest = ''] = readFileSync(
      join(programs.root, 'seen'),
      'utf8',
    ).split('|');
    expect([count, argument]).toEqual(['1', '--version']);
    expect(home).toBe(directory);
    expect(home).not.toBe(programs.environment.HOME);
    expect(rest).not.toContain('secret');
    expect(readdirSync(tmpdir())).not.toContain(home?.split('/').at(-1));
  });

  it('ends one that hangs, with what it started, and tells the version of its package instead', async () => {
    const quick = new VersionProbe(300);
    const hanging = `#!/bin/sh\nsleep 300 & echo $! > '${programs.root}/child'; wait\n`;
    const alone = programs.write('bin/agent', hanging);
    expect(await quick.ask(of(alone))).toMatchObject({ version: null, fault: 'timed-out' });
    const child = Number(readFileSync(join(programs.root, 'child'), 'utf8'));
    await waitFor(() => !isRunning(child), 'what it started to end');
    const packaged = programs.write('lib/node_modules/@vendor/agent/bin/cli', hanging);
    writeFileSync(join(programs.root, 'lib/node_modules/@vendor/agent/package.json'), '{"version":"3.4.5"}');
    expect(await quick.ask(of(packaged))).toMatchObject({
      version: '3.4.5',
      versionFrom: 'package',
      fault: null,
    });
    quick.close();
  });

  it.each([
    [
      'prints without end',
      'while :; do echo 1.0.0 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done',
      { fault: 'too-much-output' },
    ],
    ['tells it on standard error alone', 'echo "agent 1.2.3" >&2', { version: '1.2.3' }],
    ['tells two', 'echo "agent 1.2.3"; echo "engine 4.5.6"', { fault: 'version-ambiguous' }],
    ['tells none', 'echo hello', { fault: 'version-missing' }],
  ])('of one that %s is %j', async (_, body, expected) => {
    expect(await probe.ask(of(programs.script('agent', body)))).toMatchObject(expected);
  });

  it('of a script without its interpreter, or without its program, says that something is gone', async () => {
    const path = programs.write('bin/agent', '#!/does/not/exist\n');
    expect(await probe.ask(of(path))).toMatchObject({ fault: 'target-gone' });
    expect(await probe.ask(of(programs.npmShim('shim', '../lib/gone.js')))).toMatchObject({
      program: null,
      fault: 'target-gone',
    });
  });

  it("runs the program behind npm's script without that script", async () => {
    const program = programs.write('lib/cli', '#!/bin/sh\necho 7.8.9\n');
    const shim = programs.npmShim('agent', '../lib/cli');
    expect(await probe.ask(of(shim))).toMatchObject({ version: '7.8.9', program });
  });
});

function isRunning(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}
