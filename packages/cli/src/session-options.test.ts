import { expect, test } from 'vitest';
import { readSessionOptions } from './session-options.ts';
import { UsageError } from './usage-error.ts';

test('session options are read by name, tools by commas and more than once, a file from where one is', () => {
  expect(
    readSessionOptions(
      ['model=a=b', 'allowed-tools=Edit,Bash(git a,b:*)', 'allowed-tools=Read', 'mcp-config=m.json'],
      '/work',
    ),
  ).toEqual({ model: 'a=b', allowedTools: ['Edit', 'Bash(git a,b:*)', 'Read'], mcpConfig: '/work/m.json' });
});

test.each(['colour=red', 'model', 'model=', 'constructor=1'])('%s is refused', (entry) => {
  expect(() => readSessionOptions([entry], '/')).toThrow(UsageError);
});
