import { expect, test } from 'vitest';
import { changedLines, toolChange, toolSubject } from './tool-change.ts';

const drawn = (before: string, after: string) =>
  changedLines(before, after).map(({ sign, text }) => sign + text);

test('only what differs is shown, with two lines around it', () => {
  expect(drawn('a\nb\nc\nd\ne\nf\n', 'a\nb\nc\nX\ne\nf\n')).toEqual([' b', ' c', '-d', '+X', ' e', ' f']);
  expect(drawn('', 'new\n')).toEqual(['+new']);
  expect(drawn('gone', '')).toEqual(['-gone']);
  expect(drawn('same', 'same')).toEqual([' same']);
});

test('an edit of a file is read from the input of the tool, whatever its fields are called', () => {
  expect(toolChange('{"file_path":"/a.ts","old_string":"1","new_string":"2"}')).toEqual({
    path: '/a.ts',
    lines: [
      { sign: '-', text: '1' },
      { sign: '+', text: '2' },
    ],
  });
  expect(toolChange('{"filePath":"/a.ts","content":"x"}')?.lines).toEqual([{ sign: '+', text: 'x' }]);
});

test('other tools and inputs that were cut change nothing that is known', () => {
  for (const input of ['{"command":"ls"}', '{"file_path":"/a', '[]', '{"path":"/a"}'])
    expect(toolChange(input)).toBeNull();
});

test('a tool is called by what it works on, where that is known', () => {
  expect(toolSubject('{"offset":2,"file_path":"/a.ts"}')).toBe('/a.ts');
  expect(toolSubject('{"command":"npm test","description":"Runs them"}')).toBe('npm test');
  for (const input of ['{"count":1}', 'not json', '[]']) expect(toolSubject(input)).toBeNull();
});
