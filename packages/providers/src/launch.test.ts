import { expect, test } from 'vitest';
import { findProvider, planCommand, planLaunch, PROVIDERS } from './index.ts';
import type { LaunchOutcome, ProviderLaunch } from './launch.ts';

const installed =
  (...names: string[]) =>
  (name: string) =>
    names.includes(name) ? (name.startsWith('/') ? name : `/usr/bin/${name}`) : null;
const provider = (id: string) => findProvider(id)!;
const plain = { transport: 'pty', session: { kind: 'none' }, prompt: null, isKnownVersion: true } as const;
function planned(outcome: LaunchOutcome) {
  if ('failure' in outcome) throw new Error(outcome.failure.code);
  return outcome.plan;
}
const environment = {
  PATH: '/usr/bin',
  HOME: '/home/u',
  SHELL: '/bin/zsh',
  SSH_AUTH_SOCK: '/tmp/agent',
  ANTHROPIC_API_KEY: 'a-key',
  OPENAI_API_KEY: 'o-key',
  CLAUDECODE: '1',
  CLAUDE_CODE_ENTRYPOINT: 'cli',
  CLAUDE_CODE_USE_BEDROCK: '1',
  HTTPS_PROXY: 'http://proxy',
  GITHUB_TOKEN: 'secret',
};

test('providers are found by id', () => {
  expect(PROVIDERS.map(({ id }) => id)).toEqual([
    'claude',
    'codex',
    'gemini',
    'opencode',
    'qwen',
    'kimi',
    'grok',
    'copilot',
    'amp',
    'cursor-agent',
    'shell',
  ]);
  expect(findProvider('codex')?.displayName).toBe('Codex');
  for (const id of ['', 'Claude', 'toString']) expect(findProvider(id)).toBeNull();
});

test('an agent gets its own keys, not those of others, nor signs of nesting', () => {
  const plan = planned(
    planLaunch(provider('claude'), {
      ...plain,
      arguments: ['--model', 'x'],
      environment,
      which: installed('claude'),
    }),
  );
  expect(plan).toEqual({
    file: '/usr/bin/claude',
    argv: ['claude', '--model', 'x'],
    shown: ['claude', '--model', 'x'],
    environment: {
      PATH: '/usr/bin',
      HOME: '/home/u',
      SHELL: '/bin/zsh',
      ANTHROPIC_API_KEY: 'a-key',
      CLAUDE_CODE_USE_BEDROCK: '1',
      HTTPS_PROXY: 'http://proxy',
    },
    providerSessionId: null,
    conversation: null,
    reports: false,
    typesPrompt: false,
  });
});

test('codex keeps its work in its own tree, told so once', () => {
  const argv = (given: string[]) =>
    planned(
      planLaunch(provider('codex'), { ...plain, arguments: given, environment, which: installed('codex') }),
    ).argv;
  expect(argv([])).toEqual(['codex', '--no-daemon']);
  expect(argv(['resume', 'x'])).toEqual(['codex', '--no-daemon', 'resume', 'x']);
  expect(argv(['-m', 'x', '--no-daemon'])).toEqual(['codex', '-m', 'x', '--no-daemon']);
});

const prompted = (id: string, more: Partial<ProviderLaunch> = {}) =>
  planned(
    planLaunch(provider(id), {
      ...plain,
      arguments: ['-m', 'x'],
      prompt: '--no-daemon',
      environment,
      which: installed(id),
      ...more,
    }),
  );

test('a first prompt is left to be typed where the composer of the agent is known', () => {
  for (const id of ['claude', 'codex', 'gemini', 'opencode', 'qwen']) {
    const { argv, shown, typesPrompt } = prompted(id, { arguments: [], prompt: 'a secret' });
    expect([id, typesPrompt]).toEqual([id, true]);
    expect(argv.join(' ')).not.toContain('secret');
    expect(shown).toEqual(argv);
  }
  expect(prompted('codex', { prompt: null }).typesPrompt).toBe(false);
  expect(prompted('codex', { transport: 'pipe' }).typesPrompt).toBe(false);
});

test('a first prompt of another version is an argument, whole, and nothing that is shown of the launch', () => {
  const { argv, shown, typesPrompt } = prompted('codex', { isKnownVersion: false });
  expect(argv).toEqual(['codex', '--no-daemon', '-m', 'x', '--', '--no-daemon']);
  expect(shown).toEqual(['codex', '--no-daemon', '-m', 'x', '--', '…']);
  expect(typesPrompt).toBe(false);
});

test('an agent that is not installed is refused with what was looked for', () => {
  const outcome = planLaunch(provider('codex'), { ...plain, arguments: [], environment, which: () => null });
  expect(outcome).toMatchObject({
    failure: { code: 'provider-not-installed', details: { provider: 'codex', executables: ['codex'] } },
  });
});

test('the program is looked for in the PATH that the child will have, and then where installers put it', () => {
  const asked: (string | undefined)[] = [];
  const which = (_name: string, path: string | undefined) => (asked.push(path), null);
  planLaunch(provider('claude'), { ...plain, arguments: [], environment, set: { PATH: '/opt' }, which });
  planCommand({ command: ['x'], environment, which });
  const usual =
    '/home/u/.local/bin:/home/u/.bun/bin:/home/u/.npm-global/bin:/opt/homebrew/bin:/usr/local/bin';
  expect(asked).toEqual(['/opt', `/home/u/.claude/local:${usual}`, '/usr/bin']);
});

test('the shell is the one of the user, at a login, else /bin/sh', () => {
  const argv = (names: string[], set: Record<string, string> = {}, given: string[] = []) => {
    const plan = planned(
      planLaunch(provider('shell'), {
        ...plain,
        arguments: given,
        environment,
        set,
        which: installed(...names),
      }),
    );
    return [plan.file, ...plan.argv];
  };
  expect(argv(['/bin/zsh', '/bin/sh'])).toEqual(['/bin/zsh', 'zsh', '-l']);
  expect(argv(['/bin/zsh'], {}, ['-c', 'date'])).toEqual(['/bin/zsh', 'zsh', '-l', '-c', 'date']);
  expect(argv(['/bin/sh'])).toEqual(['/bin/sh', 'sh', '-l']);
  expect(argv(['/opt/elvish'], { SHELL: '/opt/elvish' })).toEqual(['/opt/elvish', 'elvish']);
  expect(
    planLaunch(provider('shell'), { ...plain, arguments: [], environment, which: () => null }),
  ).toHaveProperty('failure');
});

test('a command runs as it is, with the reach of its person but nobody else’s secrets', () => {
  const plan = planned(
    planCommand({ command: ['git', 'push'], environment, set: { A: '1' }, which: installed('git') }),
  );
  expect(plan).toEqual({
    file: '/usr/bin/git',
    argv: ['git', 'push'],
    shown: ['git', 'push'],
    environment: {
      PATH: '/usr/bin',
      HOME: '/home/u',
      SHELL: '/bin/zsh',
      SSH_AUTH_SOCK: '/tmp/agent',
      A: '1',
    },
    providerSessionId: null,
    conversation: null,
    reports: false,
    typesPrompt: false,
  });
  expect(planCommand({ command: ['nope'], environment, which: installed() })).toMatchObject({
    failure: { code: 'command-not-found', details: { command: 'nope' } },
  });
});

test('the agent socket reaches shells, not agents', () => {
  const socket = (id: string) =>
    planned(planLaunch(provider(id), { ...plain, arguments: [], environment, which: (name) => name }))
      .environment.SSH_AUTH_SOCK;
  expect(socket('shell')).toBe('/tmp/agent');
  expect(socket('claude')).toBeUndefined();
  expect(socket('codex')).toBeUndefined();
});
