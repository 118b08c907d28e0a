import { describe, expect, test } from 'vitest';
import { SpawnOverrides } from '@roost/protocol';
import { readOverrides } from './spawn-overrides.ts';

describe('overrides of a launch', () => {
  test('are what was set and cleared, and nothing else', () => {
    expect(readOverrides([], [])).toEqual({});
    expect(readOverrides(['size=120x40', 'prompt=a=b'], ['arguments', 'environment-profile'])).toEqual({
      size: { kind: 'set', value: { columns: 120, rows: 40 } },
      prompt: { kind: 'set', value: 'a=b' },
      arguments: { kind: 'clear' },
      environmentProfile: { kind: 'clear' },
    });
  });

  test('pass the schema of a spawn spec, whichever field', () => {
    const sets = [
      'provider=codex',
      'transport=pipe',
      'size=80x24',
      'arguments=["--model","opus mini"]',
      'prompt=line one\nline two',
      'environment-profile=work',
      'bundle=tools',
      'context=notes',
    ];
    const parsed = SpawnOverrides.parse(readOverrides(sets, []));
    expect(Object.values(parsed).every(({ kind }) => kind === 'set')).toBe(true);
    expect(parsed.arguments).toEqual({ kind: 'set', value: ['--model', 'opus mini'] });
  });

  test.each([
    ['no value', ['prompt'], [], /not FIELD=VALUE/],
    ['an unknown field', ['colour=red'], [], /no field of a launch; those are provider,/],
    ['a name of every object', ['constructor=x'], [], /no field/],
    ['a field twice', ['size=80x24', 'size=90x24'], [], /twice/],
    ['a field set and cleared', ['prompt=x'], ['prompt'], /twice/],
    ['what cannot be empty', [], ['provider'], /cannot be empty/],
    ['a bad size', ['size=80'], [], /COLUMNSxROWS/],
    ['a bad transport', ['transport=fax'], [], /transport 'fax' is refused/],
    ['a bad provider', ['provider=A B'], [], /provider 'A B' is refused/],
    ['arguments that are no JSON', ['arguments=--model opus'], [], /JSON array/],
    ['arguments that are no list', ['arguments="x"'], [], /JSON array/],
    ['arguments that are no texts', ['arguments=[1]'], [], /arguments .* is refused/],
    ['a blank in an id', ['bundle=a b'], [], /bundle/],
  ])('%s is refused', (_, sets, clears, message) => {
    expect(() => readOverrides(sets, clears)).toThrow(message);
  });
});
