import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { nodeSocketPath, resolveHome } from './home.ts';

test('ROOST_HOME wins, made absolute; an empty one is none', () => {
  expect(resolveHome({ ROOST_HOME: '/a/b/', HOME: '/home/x' })).toBe('/a/b');
  expect(resolveHome({ ROOST_HOME: 'rel', HOME: '/home/x' })).toBe(join(process.cwd(), 'rel'));
  expect(resolveHome({ ROOST_HOME: '', HOME: '/home/x' })).toBe('/home/x/.roost');
  expect(resolveHome({})).toBe(join(homedir(), '.roost'));
});

test('one state directory, one socket', () => {
  expect(nodeSocketPath('/a')).toBe('/a/node.sock');
});
