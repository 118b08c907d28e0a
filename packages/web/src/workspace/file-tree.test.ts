import { expect, test } from 'vitest';
import { TreeEntry } from '@roost/protocol';
import { fileTree, matchingEntries, type FileNode } from './file-tree.ts';

const entry = (path: string, kind: TreeEntry['kind'] = 'file') =>
  TreeEntry.parse({ path, kind, skipped: false });
const ENTRIES = [
  entry('README.md'),
  entry('src', 'directory'),
  entry('src/main.ts'),
  entry('src/parts', 'directory'),
  entry('src/parts/Button.ts'),
];
const drawn = (nodes: readonly FileNode[]): unknown[] =>
  nodes.map(({ name, children }) => (children.length === 0 ? name : [name, drawn(children)]));

test('directories come first, each with what is in it', () => {
  expect(drawn(fileTree(ENTRIES))).toEqual([['src', [['parts', ['Button.ts']], 'main.ts']], 'README.md']);
});

test('an entry whose directory was cut off is still there', () => {
  expect(drawn(fileTree([entry('deep/down/file')]))).toEqual(['deep/down/file']);
});

test('a search keeps what leads to what it finds', () => {
  expect(drawn(fileTree(matchingEntries(ENTRIES, 'BUTTON')))).toEqual([['src', [['parts', ['Button.ts']]]]]);
  expect(matchingEntries(ENTRIES, 'nothing')).toEqual([]);
});
