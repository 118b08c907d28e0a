import { expect, test } from 'vitest';
import {
  LeaseId,
  OPERATIONS,
  ProfileId,
  Revision,
  WorkspaceId,
  type SpawnProfileSummary,
  type WorktreeProfileSummary,
} from '@roost/protocol';
import { NODE_ID } from '../testing/things.ts';
import { launchFault, launchRequest, type LaunchChoice } from './launch-request.ts';

const SHOP = WorkspaceId.parse('shop');
const profile: SpawnProfileSummary = {
  id: ProfileId.parse('review'),
  revision: Revision.parse('7'),
  description: null,
  provider: 'claude',
  transport: 'pty',
  environmentProfile: null,
};
const trees: WorktreeProfileSummary = {
  id: ProfileId.parse('trees'),
  revision: Revision.parse('2'),
  description: null,
  sourceWorkspace: SHOP,
  retention: 'remove-when-released',
  ports: 0,
};
const choice: LaunchChoice = {
  nodeId: NODE_ID,
  workspace: { id: SHOP, root: '/work/shop', kind: 'git' },
  profile,
  provider: 'claude',
  transport: 'pty',
  place: { kind: 'workspace' },
  prompt: '',
  name: '',
};

test('what a profile says already is inherited; what differs is set', () => {
  const same = launchRequest(choice, 'key-1');
  expect(same).toMatchObject({ operation: 'spawn.submit', params: { overrides: {}, name: null } });
  const other = launchRequest({ ...choice, provider: 'codex', transport: 'pipe', prompt: 'look' }, 'key-1');
  expect(other.params).toMatchObject({
    overrides: {
      provider: { kind: 'set', value: 'codex' },
      transport: { kind: 'set', value: 'pipe' },
      prompt: { kind: 'set', value: 'look' },
    },
  });
});

test('every request is one that the protocol takes', () => {
  const places: LaunchChoice['place'][] = [
    { kind: 'workspace' },
    { kind: 'new-worktree', profile: trees },
    { kind: 'lease', leaseId: LeaseId.parse('wt-0123456789abcdef') },
    { kind: 'worktree', path: '/work/shop.worktrees/fix', workspaceId: WorkspaceId.parse('fix') },
  ];
  for (const place of places) {
    const { operation, params } = launchRequest({ ...choice, place, name: 'fix-1' }, 'key-1');
    expect(OPERATIONS[operation].params.safeParse(params).error).toBeUndefined();
  }
  const plain = launchRequest({ ...choice, profile: null }, 'key-1');
  expect(plain.operation).toBe('session.spawn');
  expect(OPERATIONS['session.spawn'].params.safeParse(plain.params).error).toBeUndefined();
});

test('a worktree made by hand is started in by its directory, or by its own workspace', () => {
  const path = '/work/shop.worktrees/fix';
  const place = { kind: 'worktree', path, workspaceId: null } as const;
  expect(launchFault({ ...choice, place })).toContain('no workspace yet');
  const plain = { ...choice, place, profile: null };
  expect(launchFault(plain)).toBeNull();
  expect(launchRequest(plain, 'key-1').params).toMatchObject({ directory: path });
  const known = { ...choice, place: { ...place, workspaceId: WorkspaceId.parse('fix') } };
  expect(launchRequest(known, 'key-1').params).toMatchObject({ target: { workspaceId: 'fix' } });
});

test('what cannot be had without a profile is said before it is asked', () => {
  expect(launchFault(choice)).toBeNull();
  expect(launchFault({ ...choice, profile: null, prompt: 'look' })).toContain('profile');
  expect(
    launchFault({ ...choice, profile: null, place: { kind: 'new-worktree', profile: trees } }),
  ).toContain('profile');
  expect(launchFault({ ...choice, name: 'no blanks' })).toContain('name');
});
