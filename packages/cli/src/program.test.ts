import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS, pickCommand } from './command-names.ts';
import { runProgram } from './program.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'roost-program-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Runs the program where no node runs and none can be started. */
async function roost(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const code = await runProgram(argv, {
    env: { ROOST_HOME: join(directory, 'home') },
    directory,
    stdin: new PassThrough() as unknown as NodeJS.ReadStream,
    stdout: stdout as unknown as NodeJS.WriteStream,
    stderr: stderr as unknown as NodeJS.WriteStream,
    nodeScript: '/nonexistent',
    hubScript: '/nonexistent',
  });
  return { code, out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') };
}

describe('wrong usage is exit code 2, one sentence and where to look', () => {
  test.each([
    ['an unknown command', ['sing']],
    ['an unknown option', ['ls', '--sideways']],
    ['a missing operand', ['attach']],
    ['too many operands', ['interrupt', 'a', 'b']],
    ['nothing to run', ['run']],
    ['arguments without --', ['run', 'claude', 'hello']],
    ['an option of the provider without --', ['run', 'claude', '--model', 'x']],
    ['a bad size', ['run', '--size', '80', '--', 'true']],
    ['a bad name', ['run', '--name', 'a b', '--', 'true']],
    ['a bad variable', ['run', '--env', '1=2', '--', 'true']],
    ['a bad detach key', ['run', '--detach-key', 'ctrl-m', '--', 'true']],
    ['attach without a terminal', ['attach', 'a']],
    ['a bad line count', ['logs', 'a', '--lines', 'all']],
    ['two views at once', ['logs', 'a', '--screen', '--follow']],
    ['a bad grace', ['stop', 'a', '--grace', 'soon']],
    ['too long a grace', ['stop', 'a', '--grace', '601']],
    ['a bad sequence', ['events', '--after', 'yesterday']],
    ['a bad workspace id', ['workspace', 'add', '--id', 'A B']],
    ['an unknown workspace command', ['workspace', 'paint']],
    ['parameters that are no JSON', ['api', 'node.status', '{']],
    ['an unknown shell', ['completion', 'csh']],
    ['profile options without a profile', ['run', '--set', 'size=80x24', '--', 'true']],
    ['a key without a profile', ['run', '--idempotency-key', 'k', '--', 'true']],
    ['a provider beside a profile', ['run', '--profile', 'p', 'claude']],
    ['variables beside a profile', ['run', '--profile', 'p', '--env', 'A=1']],
    ['a size twice', ['run', '--profile', 'p', '--size', '80x24', '--set', 'size=80x24']],
    ['arguments twice', ['run', '--profile', 'p', '--set', 'arguments=[]', '--', 'x']],
    ['a field that cannot be empty', ['run', '--profile', 'p', '--clear', 'provider']],
    ['an unknown field', ['run', '--profile', 'p', '--set', 'colour=red']],
    ['too long a deadline', ['run', '--profile', 'p', '--deadline', '121']],
    ['no deadline at all', ['run', '--profile', 'p', '--deadline', '0']],
    ['a bad key', ['run', '--profile', 'p', '--idempotency-key', 'a b']],
    ['a bad profile', ['run', '--profile', 'a/b']],
    ['an unknown capability', ['run', '--profile', 'p', '--require', 'telepathy']],
    ['two places', ['run', '--profile', 'p', '--workspace', 'w', '--cwd', '/']],
    ['a bad new name', ['records', 'rename', 'a', 'b c']],
    ['an unknown records command', ['records', 'paint']],
    ['records of nothing', ['records', 'forget']],
    ['a bad size to resume with', ['resume', 'a', '--size', 'big']],
    ['too long a first prompt', ['resume', 'a', '--prompt', 'x'.repeat(32_769)]],
    ['a bad time to hold', ['controller', 'hold', '--for', 'ever']],
    ['too long a hold', ['controller', 'hold', '--for', '86401']],
    ['an unknown controller command', ['controller', 'paint']],
    ['an unknown profile command', ['profile', 'paint']],
    ['no profile to show', ['profile', 'show']],
    ['an unknown delivery', ['prompt', 'a', 'b', '--until', 'understood']],
    ['no prompt', ['prompt', 'a']],
    ['an unknown key', ['send', 'a', '--key', 'any']],
    ['a text and a key', ['send', 'a', 'text', '--key', 'enter']],
    ['nothing to send', ['send', 'a']],
    ['an operand of token', ['token', 'x']],
    ['a bad timeout', ['wait', 'a', '--timeout', '-1']],
  ])('%s', async (_, argv) => {
    const { code, out, err } = await roost('--no-start', ...argv);
    expect(err).toMatch(/^roost: wrong-usage: .+\n {2}try: roost .*--help\n$/);
    expect({ code, out }).toEqual({ code: 2, out: '' });
  });
});

describe('without a node, --no-start refuses with exit code 1', () => {
  test.each([
    ['ls', ['ls', '--json']],
    ['status', ['status']],
    ['up', ['up']],
    ['run', ['run', '--', 'true']],
    ['a provider', ['run', 'claude', '--', '--print', 'hello']],
    ['logs', ['logs', 'a']],
    ['send', ['send', 'a', 'text', '--enter', '--paste']],
    ['stop several', ['stop', 'a', 'b', '--force']],
    ['rm', ['rm', 'a']],
    ['interrupt', ['interrupt', 'a']],
    ['wait', ['wait', 'a', '--timeout', '1']],
    ['a profile', ['run', '--profile', 'p']],
    ['resume', ['resume', 'a']],
    ['records', ['records', 'ls']],
    ['several records', ['records', 'forget', 'a', 'b']],
    ['profile', ['profile', 'show', 'p']],
    ['prompt', ['prompt', 'a', 'text']],
    ['a key', ['send', 'a', '--key', 'enter']],
    ['controller', ['controller']],
    ['controller hold', ['controller', 'hold', '--for', '1']],
    ['controller break', ['controller', 'break']],
    ['token', ['token']],
    ['workspace', ['workspace', 'ls']],
    ['events', ['events', '--after', '-5']],
    ['api', ['api', 'node.status']],
  ])('%s', async (_, argv) => {
    expect(await roost('--no-start', ...argv)).toEqual({
      code: 1,
      out: '',
      err: 'roost: node-not-running: No node runs for this state directory.\n  roost up   starts it\n',
    });
  });

  test('global options hold behind the name of the command, too', async () => {
    expect((await roost('ls', '--no-start', '--home', join(directory, 'other'))).code).toBe(1);
  });

  test('and nothing was made in the state directory', async () => {
    await roost('--no-start', 'ls');
    expect(await readdir(directory)).toEqual([]);
  });
});

test('a node that cannot be started is a failure with its reason', async () => {
  const { code, err } = await roost('--home', '/dev/null/x', 'ls');
  expect(code).toBe(1);
  expect(err).toMatch(/^roost: home-unusable: .*\n {2}\/dev\/null\/x: /);
});

test('down where no node runs is done', async () => {
  expect(await roost('down')).toEqual({ code: 0, out: 'no node runs\n', err: '' });
});

test('every command explains itself, and is listed unless hidden', async () => {
  const overview = await roost('--help');
  expect(overview.code).toBe(0);
  for (const [name, { hidden }] of Object.entries(COMMANDS)) {
    expect(overview.out.includes(`\n  ${name} `)).toBe(hidden !== true);
    const help = await roost(name, '--help');
    expect(help).toMatchObject({ code: 0, err: '' });
    expect(help.out).toContain(`Usage: roost ${name}`);
    if (hidden !== true) expect(await roost('help', name)).toEqual(help);
  }
});

test('an unknown operation is refused before anything is asked', async () => {
  expect((await roost('--no-start', 'api', 'session.sing')).err).toMatch(/^roost: unknown-operation: /);
});

test('parameters that the schema refuses name the field', async () => {
  const { code, err } = await roost('--no-start', 'api', 'session.resolve', '{"selector":""}');
  expect(code).toBe(1);
  expect(err).toMatch(/^roost: invalid-request: .*\n {2}selector: /);
});

test('api without an operation lists them all', async () => {
  const { code, out } = await roost('api');
  expect(code).toBe(0);
  expect(out).toMatch(/^session\.spawn +Starts /m);
});

test.each([
  ['commands', ['__complete', '--', 'atta'], 'attach\n'],
  ['options', ['__complete', '--', 'logs', '--fo'], '--follow\n'],
  ['inner commands', ['__complete', '--', 'records', 're'], 'rename\nresume\n'],
  ['no providers without a node', ['__complete', '--', 'run', 'c'], ''],
  ['operations', ['__complete', '--', 'api', 'workspace.l'], 'workspace.list\n'],
  ['nothing behind --', ['__complete', '--', 'run', '--', ''], ''],
  ['no sessions without a node', ['__complete', '--', 'attach', ''], ''],
])('completion offers %s', async (_, argv, out) => {
  expect(await roost(...argv)).toEqual({ code: 0, out, err: '' });
});

test('the command is the first word that belongs to no option', () => {
  expect(pickCommand(['--home', 'ls', 'run'])).toBe('run');
  expect(pickCommand(['--home=ls', '--no-start', 'run', 'ls'])).toBe('run');
  expect(pickCommand(['--', 'run'])).toBeUndefined();
  expect(pickCommand([])).toBeUndefined();
});
