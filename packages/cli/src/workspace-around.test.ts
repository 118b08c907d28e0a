import { expect, test } from 'vitest';
import { WorkspaceId } from '@roost/protocol';
import { deepestAround } from './workspace-around.ts';

const workspace = (id: string, root: string) => ({ id: WorkspaceId.parse(id), root });

test('the deepest workspace around a directory is its own; a name that only begins alike is not', () => {
  const all = [workspace('all', '/'), workspace('app', '/src/app'), workspace('part', '/src/app/part')];
  expect(deepestAround('/src/app/part/x', all)?.id).toBe('part');
  expect(deepestAround('/src/app/part', all)?.id).toBe('part');
  expect(deepestAround('/src/app/partial', all)?.id).toBe('app');
  expect(deepestAround('/src/application', all)?.id).toBe('all');
  expect(deepestAround('/src/application', all.slice(1))).toBeUndefined();
});
