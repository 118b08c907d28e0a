import { describe, expect, test } from 'vitest';
import { planArguments, type SessionChoice } from './command-line.ts';
import { findProvider, planLaunch, PROVIDERS, runtimeCapabilities, type LaunchPlan } from './index.ts';

const ID = '0b1c6f0e-5d0a-4c57-9a3d-1f2e3d4c5b6a';
const none: SessionChoice = { kind: 'none' };
const assign: SessionChoice = { kind: 'assign', id: ID };
const resume: SessionChoice = { kind: 'resume', id: ID };

function plan(
  id: string,
  session: SessionChoice,
  given: string[],
  {
    prompt = null,
    transport = 'pty',
    mayType = false,
  }: { prompt?: string | null; transport?: 'pty' | 'pipe'; mayType?: boolean } = {},
) {
  const provider = findProvider(id)!;
  return planArguments(provider.transports[transport], provider.commandLine, {
    arguments: given,
    session,
    prompt,
    mayType,
  });
}

describe('a new session', () => {
  test.each([
    ['gets the id that it is to have', 'claude', ['--model', 'x'], ['--session-id', ID, '--model', 'x'], ID],
    ['gets none where the arguments choose', 'claude', ['--resume', 'y'], ['--resume', 'y'], null],
    ['gets none where they choose in one word', 'claude', ['--session-id=y'], ['--session-id=y'], null],
    ['gets none where they choose by a letter', 'claude', ['-c'], ['-c'], null],
    [
      'gets none where nothing is kept',
      'claude',
      ['--no-session-persistence'],
      ['--no-session-persistence'],
      null,
    ],
    [
      'gets one when only a prompt talks of such options',
      'claude',
      ['--', '-c'],
      ['--session-id', ID, '--', '-c'],
      ID,
    ],
    ['gets none where the provider makes its own', 'codex', ['-m', 'x'], ['-m', 'x'], null],
    ['gets none where there are no sessions', 'shell', ['-c', 'date'], ['-c', 'date'], null],
  ])('%s (%s %j)', (_, id, given, expected, sessionId) => {
    expect(plan(id, assign, given)).toMatchObject({ arguments: expected, shown: expected, sessionId });
  });

  test('takes its first prompt behind everything, where no option can take it for a value', () => {
    expect(plan('claude', none, ['--allowedTools', 'Edit'], { prompt: '-do it' })?.arguments).toEqual([
      '--allowedTools',
      'Edit',
      '--',
      '-do it',
    ]);
    expect(plan('codex', none, [], { prompt: 'do' })?.arguments).toEqual(['--', 'do']);
    expect(plan('gemini', none, [], { prompt: '-do' })?.arguments).toEqual(['--prompt-interactive=-do']);
    expect(plan('opencode', none, [], { prompt: '{prompt}' })?.arguments).toEqual(['--prompt={prompt}']);
    expect(plan('shell', none, [], { prompt: 'do' })).toBeNull();
    // What is said in a protocol is no argument.
    expect(plan('claude', none, [], { prompt: 'do', transport: 'pipe' })?.arguments).toEqual([]);
  });
});

describe('a resumed session', () => {
  test.each([
    ['claude', ['--model', 'x'], ['--resume', ID, '--model', 'x']],
    ['claude', ['fix the bug'], ['--resume', ID]],
    ['claude', ['--model', 'x', 'fix the bug'], ['--resume', ID, '--model', 'x']],
    ['claude', ['--verbose', 'fix the bug'], ['--resume', ID, '--verbose']],
    ['claude', ['--add-dir', '/a', '/b', '--', 'fix'], ['--resume', ID, '--add-dir', '/a', '/b']],
    [
      'claude',
      ['--debug', '--resume', 'y', '-c', '--effort=low'],
      ['--resume', ID, '--debug', '--effort=low'],
    ],
    ['claude', ['--append-system-prompt', '-x'], ['--resume', ID, '--append-system-prompt', '-x']],
    ['claude', ['--worktree', 'w', '--ide'], ['--resume', ID, '--ide']],
    ['claude', ['-p', '-'], ['--resume', ID, '-p']],
    ['claude', ['--model'], ['--resume', ID, '--model']],
    ['codex', ['-m', 'x', 'fix'], ['-m', 'x', 'resume', ID]],
    ['codex', ['resume', 'y', '--last'], ['resume', ID]],
    ['gemini', ['-m', 'x', '-i', 'fix'], ['--resume', ID, '-m', 'x']],
    ['gemini', ['--prompt-interactive=fix', '--yolo'], ['--resume', ID, '--yolo']],
    ['qwen', ['--json-file', '/f', '--session-id', 'y', 'fix'], ['--resume', ID, '--json-file', '/f']],
    ['opencode', ['--prompt', 'fix', '-m', 'p/m', '/dir'], ['--session', ID, '-m', 'p/m']],
    ['codex', ['-i', 'a.png', 'b.png', '-s', 'read-only'], ['-s', 'read-only', 'resume', ID]],
  ])('of %s %j gets its options again and never a prompt', (id, given, expected) => {
    expect(plan(id, resume, given)).toMatchObject({ arguments: expected, shown: expected, sessionId: ID });
  });

  test('takes a new prompt', () => {
    expect(plan('codex', resume, ['old'], { prompt: 'new' })?.arguments).toEqual(['resume', ID, '--', 'new']);
    expect(plan('claude', resume, ['old'], { prompt: 'new' })?.arguments).toEqual([
      '--resume',
      ID,
      '--',
      'new',
    ]);
  });

  test('is refused where the provider is not known to resume', () => {
    for (const [id, transport] of [
      ['shell', 'pty'],
      ['shell', 'pipe'],
    ] as const) {
      const outcome = planLaunch(findProvider(id)!, {
        environment: {},
        which: (name) => name,
        arguments: [],
        transport,
        session: resume,
        prompt: null,
        isKnownVersion: true,
      });
      expect(outcome).toMatchObject({ failure: { code: 'session-record-not-resumable' } });
    }
  });
});

test.each([
  [
    'claude',
    assign,
    ['-p', '--input-format', 'stream-json'],
    { protocol: 'claude-stream-json', resume: null },
  ],
  [
    'claude',
    resume,
    ['-p', '--input-format', 'stream-json'],
    { protocol: 'claude-stream-json', resume: null },
  ],
  ['codex', assign, ['--no-daemon', 'app-server'], { protocol: 'codex-app-server', resume: null }],
  ['codex', resume, ['--no-daemon', 'app-server'], { protocol: 'codex-app-server', resume: ID }],
  ['gemini', resume, ['--acp'], { protocol: 'acp', resume: ID }],
])('%s with the session %j is spoken with over pipes', (id, session, front, conversation) => {
  const outcome = planLaunch(findProvider(id)!, {
    environment: {},
    which: (name) => name,
    arguments: [],
    transport: 'pipe',
    session,
    prompt: 'a secret',
    isKnownVersion: true,
  });
  const { plan: planned } = outcome as { plan: LaunchPlan };
  expect(planned.argv.slice(1, 1 + front.length)).toEqual(front);
  expect(planned.conversation).toEqual(conversation);
  expect(JSON.stringify(planned)).not.toContain('a secret');
});

test.each([
  ['claude', assign, ['--model', 'x'], true],
  ['claude', assign, ['--allowedTools', 'Edit', 'Read', '--debug'], true],
  ['claude', assign, ['--model', 'x', 'print this'], false],
  ['claude', assign, ['--model', 'x', '--', 'print this'], false],
  ['claude', assign, ['mcp', 'list'], false],
  ['claude', assign, ['--print'], false],
  ['claude', assign, ['--prefill=half'], false],
  ['claude', assign, ['--an-option-of-tomorrow', 'x'], false],
  ['claude', resume, ['--model', 'x', 'said before'], true],
  ['claude', resume, ['-p'], false],
  ['codex', none, ['-m', 'x', '-p', 'work'], true],
  ['codex', none, ['exec'], false],
  ['codex', resume, [], true],
  ['gemini', none, ['-p', 'x'], false],
  ['qwen', none, ['--input-format', 'stream-json'], false],
  ['opencode', none, ['run'], false],
])('the first prompt of %s with the session %j and %j is typed: %s', (id, session, given, expected) => {
  const typed = plan(id, session, given, { prompt: 'do', mayType: true });
  expect(typed?.typesPrompt).toBe(expected);
  expect(typed?.arguments.at(-1)?.endsWith('do') ?? false).toBe(!expected);
  expect(typed?.shown.at(-1)?.endsWith('…') ?? false).toBe(!expected);
  expect(plan(id, session, given, { mayType: true })?.typesPrompt).toBe(false);
});

test.each([
  ['do', true],
  ['-do', true],
  ['@file has it', true],
  ['!ls', false],
  [' /exit', false],
  ['#1 is open', false],
])(
  'a first prompt that composers may take for a command of their own is not typed: %j',
  (prompt, expected) => {
    expect(plan('codex', none, [], { prompt, mayType: true })?.typesPrompt).toBe(expected);
  },
);

test.each([
  ['claude', none, ['--', '…']],
  ['claude', assign, ['--session-id', ID, '--', '…']],
  ['claude', resume, ['--resume', ID, '--', '…']],
  ['codex', none, ['--', '…']],
  ['codex', resume, ['resume', ID, '--', '…']],
])('what is shown of %s with the session %j has an ellipsis for its first prompt', (id, session, shown) => {
  expect(plan(id, session, [], { prompt: 'a secret' })?.shown).toEqual(shown);
});

test.each([
  [
    'claude',
    'pty',
    ['raw-pty-lifecycle', 'structured-prompt', 'provider-session-identity', 'semantic-resume'],
  ],
  ['claude', 'pipe', ['structured-prompt', 'provider-session-identity', 'semantic-resume']],
  [
    'codex',
    'pty',
    ['raw-pty-lifecycle', 'structured-prompt', 'provider-session-identity', 'semantic-resume'],
  ],
  ['codex', 'pipe', ['structured-prompt', 'provider-session-identity', 'semantic-resume']],
  [
    'gemini',
    'pty',
    ['raw-pty-lifecycle', 'structured-prompt', 'provider-session-identity', 'semantic-resume'],
  ],
  ['gemini', 'pipe', ['structured-prompt', 'provider-session-identity', 'semantic-resume']],
  ['qwen', 'pty', ['raw-pty-lifecycle', 'structured-prompt', 'provider-session-identity', 'semantic-resume']],
  ['qwen', 'pipe', ['structured-prompt', 'provider-session-identity', 'semantic-resume']],
  [
    'opencode',
    'pty',
    ['raw-pty-lifecycle', 'structured-prompt', 'provider-session-identity', 'semantic-resume'],
  ],
  ['opencode', 'pipe', ['structured-prompt', 'provider-session-identity', 'semantic-resume']],
  ['kimi', 'pty', ['raw-pty-lifecycle']],
  ['grok', 'pty', ['raw-pty-lifecycle']],
  ['copilot', 'pty', ['raw-pty-lifecycle']],
  ['amp', 'pty', ['raw-pty-lifecycle']],
  ['cursor-agent', 'pty', ['raw-pty-lifecycle']],
  ['shell', 'pty', ['raw-pty-lifecycle']],
  ['shell', 'pipe', []],
  [null, 'pty', ['raw-pty-lifecycle']],
  [null, 'pipe', []],
] as const)('%s over %s can be relied on for %j', (id, transport, expected) => {
  expect(runtimeCapabilities(id === null ? null : findProvider(id), transport)).toEqual(expected);
});

test('whatever can be resumed has an identity to resume by', () => {
  for (const { id, transports } of PROVIDERS)
    for (const own of Object.values(transports))
      expect([id, own.resume === null || own.identity !== null]).toEqual([id, true]);
});
