import { describe, expect, test } from 'vitest';
import type { SessionOptions } from '@roost/protocol';
import { findProvider, placeOfVersion, planOptions, PROVIDERS } from './index.ts';

const plan = (id: string, options: SessionOptions, given: string[] = []) =>
  planOptions(findProvider(id)!, 'pty', options, given);

describe('session options', () => {
  test.each([
    ['claude', { model: 'opus', effort: 'high' }, ['--model', 'opus', '--effort', 'high']],
    ['claude', { permissionMode: 'plan' }, ['--permission-mode', 'plan']],
    [
      'claude',
      { allowedTools: ['Edit', 'Bash(git log:*)'], mcpConfig: '/m.json' },
      ['--allowedTools=Edit', '--allowedTools=Bash(git log:*)', '--mcp-config=/m.json'],
    ],
    ['claude', { appendSystemPrompt: '-x' }, ['--append-system-prompt=-x']],
    ['codex', { model: 'm', permissionMode: 'read-only' }, ['-m', 'm', '-s', 'read-only']],
    ['codex', { effort: 'low' }, ['-c', 'model_reasoning_effort=low']],
    ['gemini', { model: 'm', permissionMode: 'auto_edit' }, ['--model=m', '--approval-mode=auto_edit']],
    ['qwen', { disallowedTools: ['Edit'] }, ['--exclude-tools=Edit']],
    ['opencode', { model: 'p/m', permissionMode: 'auto' }, ['--model=p/m', '--auto']],
    ['opencode', { permissionMode: 'default' }, []],
  ] as const)('of %s %j are %j, in front of the arguments', (id, options, expected) => {
    const wanted = structuredClone(options) as SessionOptions;
    expect(plan(id, wanted, ['--x'])).toEqual({ arguments: [...expected, '--x'] });
  });

  test.each([
    ['claude', { model: 'a' }, ['--model', 'b'], ['--model', 'b']],
    ['claude', { model: 'a' }, ['--model=b'], ['--model=b']],
    ['claude', { model: 'a' }, ['--', '--model=b'], ['--model', 'a', '--', '--model=b']],
    ['codex', { model: 'a' }, ['-mb'], ['-mb']],
    [
      'codex',
      { effort: 'low' },
      ['-c', 'model_reasoning_effort=high'],
      ['-c', 'model_reasoning_effort=high'],
    ],
    ['codex', { effort: 'low' }, ['-cmodel_reasoning_effort=high'], ['-cmodel_reasoning_effort=high']],
    ['codex', { effort: 'low' }, ['-c', 'other=1'], ['-c', 'model_reasoning_effort=low', '-c', 'other=1']],
  ] as const)('of %s %j give way to %j', (id, options, given, expected) => {
    expect(plan(id, options, [...given])).toEqual({ arguments: expected });
  });

  test.each([
    ['codex', { allowedTools: ['Edit'] }, { option: 'allowedTools' }],
    ['shell', { model: 'x' }, { option: 'model' }],
    ['codex', { permissionMode: 'plan' }, { values: ['read-only', 'workspace-write', 'danger-full-access'] }],
    ['opencode', { permissionMode: 'constructor' }, { values: ['default', 'auto'] }],
  ] as const)('that %s does not have are refused: %j', (id, options, details) => {
    const wanted = structuredClone(options) as SessionOptions;
    expect(plan(id, wanted)).toMatchObject({
      failure: { code: 'session-option-unsupported', details: { provider: id, ...details } },
    });
  });
});

test.each([
  ['2.1.197', 'inside'],
  ['2.1.0-beta.1', 'inside'],
  ['2.0.99', 'older'],
  ['2.10.0', 'inside'],
  ['3.0.0', 'newer'],
])('version %s is %s', (version, place) => {
  expect(placeOfVersion(version, { from: '2.1.0', below: '3.0.0' })).toBe(place);
});

describe('every provider', () => {
  test('has a name of its own, and programs that no other has', () => {
    const ids = PROVIDERS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const names = PROVIDERS.flatMap(({ executable }) =>
      executable.kind === 'search' ? executable.names : [],
    );
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z][a-z-]*$/);
  });

  test('tells an agent that it runs inside another one by nothing, and takes no colours from it', () => {
    for (const { id, scrubEnvironment } of PROVIDERS.filter((one) => one.id !== 'shell'))
      expect([id, scrubEnvironment]).toEqual([
        id,
        expect.arrayContaining(['CLAUDECODE', 'AI_AGENT', 'NO_COLOR', 'CI', 'TERM']),
      ]);
  });

  test('that nobody has seen at work promises nothing', () => {
    for (const { id, version, transports } of PROVIDERS)
      if (version?.known === null)
        for (const facts of Object.values(transports))
          expect([id, facts]).toEqual([id, { identity: null, resume: null, prompt: null }]);
  });
});
