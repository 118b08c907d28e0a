import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ProviderReport, USER_PROVIDER_BYTES_MAX, USER_PROVIDERS_MAX } from '@roost/protocol';
import { runtimeCapabilities } from '@roost/providers';
import { findingsOf } from './operations.ts';
import { TestPrograms } from './programs-for-test.ts';
import { Providers } from './providers.ts';

let programs: TestPrograms;
let providers: Providers;
const directory = () => join(programs.root, 'providers');

function open(environment: Record<string, string> = {}): Providers {
  return new Providers({
    environment: { ...programs.environment, ...environment },
    directory: directory(),
    log: pino({ enabled: false }),
    probeMs: 20_000,
  });
}

beforeEach(() => {
  programs = new TestPrograms();
  providers = open();
});
afterEach(() => {
  providers.close();
  programs.remove();
});

async function discovery(id: string) {
  const found = (await providers.list(true)).providers.find((provider) => provider.id === id);
  return ProviderReport.parse(found).discovery;
}

/** What a launch may rely on. */
const reliesOn = (id: string) => runtimeCapabilities(providers.find(id), 'pty');

describe('a provider', () => {
  it('starts nothing before somebody asks, and is then known for all', async () => {
    programs.script('claude', 'echo 2.1.197');
    expect((await providers.list(false)).providers[0]?.discovery?.state).toBe('unknown');
    expect(providers.statuses[0]).toMatchObject({ id: 'claude', installed: true });
    expect(programs.runs).toBe(0);
    expect(await discovery('claude')).toMatchObject({
      state: 'installed',
      version: '2.1.197',
      path: join(programs.bin, 'claude'),
      transports: { pty: { identity: 'assigned', resume: true, prompt: true, verified: true } },
    });
    await providers.settle('claude');
    expect(programs.runs).toBe(1);
  });

  it('of a known version keeps what is said of it', async () => {
    programs.script('claude', 'echo 2.1.197');
    await providers.settle('claude');
    expect(reliesOn('claude')).toContain('semantic-resume');
  });

  it.each([
    ['a newer version than anybody has seen', 'echo 9.0.0', 'unverified-version', null],
    ['an older version', 'echo 1.0.0', 'unverified-version', null],
    ['no version', 'echo hello', 'probe-failed', 'version-missing'],
  ])('with %s is a terminal and says so', async (_, body, state, fault) => {
    programs.script('claude', body);
    await providers.settle('claude');
    expect(reliesOn('claude')).toEqual(['raw-pty-lifecycle']);
    expect(providers.statuses.find(({ id }) => id === 'claude')?.capabilities.pty).toEqual([
      'raw-pty-lifecycle',
    ]);
    const found = await discovery('claude');
    expect(found).toMatchObject({ state, fault, transports: { pty: { resume: true, verified: false } } });
  });

  it('gets what newer versions need only where they take it', async () => {
    programs.script('codex', 'echo codex-cli 0.100.0');
    await providers.settle('codex');
    expect(providers.find('codex')?.leadingArguments).toEqual([]);
    programs.script('codex', 'echo codex-cli 7.0.0');
    await providers.settle('codex');
    expect(providers.find('codex')?.leadingArguments).toEqual(['--no-daemon']);
  });

  it('that nobody has seen at work is a terminal in every version', async () => {
    programs.script('kimi', 'echo 1.0.0');
    expect(reliesOn('kimi')).toEqual(['raw-pty-lifecycle']);
    expect(await discovery('kimi')).toMatchObject({
      state: 'unverified-version',
      transports: { pty: { resume: true, verified: false } },
    });
  });

  it('is asked again when its program was replaced while the node runs', async () => {
    programs.script('claude', 'echo 9.0.0');
    expect(await discovery('claude')).toMatchObject({ state: 'unverified-version' });
    programs.script('claude', 'echo 2.1.197');
    expect(await discovery('claude')).toMatchObject({ state: 'installed', version: '2.1.197' });
  });

  it('is checked afresh, and its findings name the command that helps', async () => {
    programs.script('claude', 'echo 2.1.197');
    mkdirSync(join(programs.root, 'home/.claude'), { recursive: true });
    await providers.check('claude');
    const report = await providers.check('claude');
    expect(programs.runs).toBe(2);
    const commands = providers.commandsOf('claude')!;
    const findings = (discovered: Partial<NonNullable<ProviderReport['discovery']>>) =>
      findingsOf({ ...report!.discovery!, ...discovered }, commands);
    expect(findings({ login: 'yes' })).toEqual([{ code: 'ready', level: 'ok', command: null }]);
    expect(findings({ login: 'no' })[0]).toEqual({
      code: 'not-logged-in',
      level: 'warn',
      command: 'claude auth login',
    });
    expect(findings({ state: 'not-found' })[0]?.command).toBe('npm install -g @anthropic-ai/claude-code');
    expect(findings({ state: 'broken', fault: 'not-executable', path: "/a b/it's" })[0]?.command).toBe(
      String.raw`chmod +x '/a b/it'\''s'`,
    );
    expect(findings({ state: 'unverified-version', login: 'yes' })[0]?.code).toBe('version-unverified');
    expect(await providers.check('nobody')).toBeNull();
  });

  it('that is broken, absent or a directory is told as that', async () => {
    symlinkSync('/gone', join(programs.bin, 'claude'));
    programs.npmShim('codex', '../lib/gone.js');
    mkdirSync(join(programs.bin, 'qwen'));
    expect(await discovery('claude')).toMatchObject({ state: 'broken', fault: 'target-gone' });
    expect(await discovery('codex')).toMatchObject({ state: 'broken', fault: 'target-gone' });
    expect(await discovery('qwen')).toMatchObject({ state: 'not-found', path: null });
    expect(await discovery('shell')).toMatchObject({ state: 'installed', version: null });
  });
});

describe('whether somebody has logged in', () => {
  it('is told by files and variables, and unknown where both are silent', async () => {
    programs.script('claude', 'echo 2.1.197');
    expect(await discovery('claude')).toMatchObject({ login: 'no' });
    mkdirSync(join(programs.root, 'home/.claude'), { recursive: true });
    expect(await discovery('claude')).toMatchObject({ login: 'unknown' });
    writeFileSync(join(programs.root, 'home/.claude/.credentials.json'), '{}');
    expect(await discovery('claude')).toMatchObject({ login: 'yes' });
    providers.close();
    providers = open({ CLAUDE_CONFIG_DIR: join(programs.root, 'elsewhere'), ANTHROPIC_API_KEY: 'k' });
    expect(await discovery('claude')).toMatchObject({ login: 'yes' });
  });

  it.each([
    ['Logged in using ChatGPT', 'yes'],
    ['Not logged in', 'no'],
    ['error: what is login?', 'unknown'],
  ])('is asked of one that says %j: %s', async (said, login) => {
    programs.script('codex', `[ "$1" = --version ] && exec echo 0.171.0\necho '${said}' >&2; exit 1`);
    expect(await discovery('codex')).toMatchObject({ login });
  });
});

describe('a provider of a file', () => {
  const write = (name: string, content: unknown) => {
    writeFileSync(join(directory(), name), typeof content === 'string' ? content : JSON.stringify(content));
  };
  const good = { displayName: 'My agent', executables: ['my-agent'] };
  const faults = async () =>
    Object.fromEntries((await providers.list(false)).faults.map(({ file, fault }) => [file, fault]));

  it('is there like any other, as soon as the file is', async () => {
    programs.script('my-agent', 'echo 4.5.6');
    write('mine.json', {
      ...good,
      version: { from: '4.0.0' },
      arguments: ['--quiet'],
      environment: { inherit: ['MINE_*'], scrub: ['MINE_SECRET'] },
      prompt: ['--ask={prompt}'],
      options: {
        model: { arguments: ['--model', '{value}'] },
        permissionMode: { choices: { plan: ['--careful'] } },
      },
    });
    expect(await discovery('mine')).toMatchObject({
      state: 'installed',
      origin: 'user',
      version: '4.5.6',
      options: { model: null, permissionMode: ['plan'] },
    });
    expect(reliesOn('mine')).toEqual(['raw-pty-lifecycle', 'structured-prompt']);
    expect(providers.find('mine')).toMatchObject({ leadingArguments: ['--quiet'] });
    expect(await faults()).toEqual({});
  });

  it('that cannot be used is told with what is wrong, and harms nobody else', async () => {
    write('good.json', good);
    write('broken.json', '{ "displayName": ');
    write('key.json', { ...good, colour: 'red' });
    write('claude.json', good);
    write('UPPER.json', good);
    write('path.json', { ...good, executables: ['../x'] });
    write('star.json', { ...good, environment: { inherit: ['*'] } });
    write('own.json', { ...good, environment: { inherit: ['ROOST_TOKEN'] } });
    write('option.json', { ...good, options: { colour: { arguments: ['{value}'] } } });
    write('hole.json', { ...good, prompt: ['--prompt'] });
    write('large.json', { ...good, login: 'x'.repeat(USER_PROVIDER_BYTES_MAX) });
    symlinkSync(join(directory(), 'good.json'), join(directory(), 'link.json'));
    expect(await faults()).toEqual({
      'broken.json': 'It is not JSON.',
      'key.json': expect.stringContaining('colour'),
      'claude.json': 'A provider of that name is there already.',
      'UPPER.json': 'The name of the file is no provider id.',
      'path.json': expect.stringContaining('executables'),
      'star.json': expect.stringContaining('environment.inherit'),
      'own.json': expect.stringContaining('environment.inherit'),
      'option.json': expect.stringContaining('options'),
      'hole.json': expect.stringContaining('{prompt}'),
      'large.json': `It is larger than ${USER_PROVIDER_BYTES_MAX} bytes.`,
      'link.json': 'It is a link.',
    });
    expect(providers.find('good')).not.toBeNull();
    for (const id of ['broken', 'key', 'link', 'large']) expect(providers.find(id)).toBeNull();
    expect(providers.find('claude')?.displayName).toBe('Claude Code');
  });

  it('beyond the bound is a fault', async () => {
    for (let number = 0; number <= USER_PROVIDERS_MAX; number += 1) {
      write(`p${String(number).padStart(3, '0')}.json`, good);
    }
    const { providers: listed } = await providers.list(false);
    expect(listed.filter(({ discovery: found }) => found?.origin === 'user')).toHaveLength(
      USER_PROVIDERS_MAX,
    );
    expect(await faults()).toEqual({ 'p064.json': `There are more than ${USER_PROVIDERS_MAX} providers.` });
  });
});
