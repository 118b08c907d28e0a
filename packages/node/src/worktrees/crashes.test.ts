// A node that is killed between git and its database, at every named moment of making and removing a worktree.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WorkspaceId } from '@roost/protocol';
import type { Daemon } from '../daemon.ts';
import {
  startNodeProcess,
  startNodeThatEndsAt,
  startTestNode,
  TestClient,
  TestHome,
  waitFor,
  type NodeProcess,
} from '../node-for-test.ts';
import { hashTree, TestRepository } from './repository-for-test.ts';

let home: TestHome;
let repository: TestRepository;
let daemon: Daemon | null = null;
let client: TestClient | null = null;
let child: NodeProcess | null = null;
const sourceWorkspaceId = WorkspaceId.parse('source');

beforeEach(() => {
  home = new TestHome();
  repository = new TestRepository();
});
afterEach(async () => {
  client?.close();
  await daemon?.stop();
  child?.child.kill('SIGKILL');
  await child?.exit;
  [client, daemon, child] = [null, null, null];
  await home.remove();
  repository.remove();
});

const socket = () => join(home.path, 'node.sock');
const one = () => repository.place('one');
const connect = async () => (client = await TestClient.connect(socket()));
const create = (on: TestClient, branch = 'one') =>
  on.call('worktree.create', { sourceWorkspaceId, branch, targetRoot: one() });
const remove = (on: TestClient) => on.call('worktree.remove', { sourceWorkspaceId, targetRoot: one() });

/** A node with one repository, and with a worktree when asked for, that ends itself there. */
async function nodeThatEndsAt(point: string, withWorktree: boolean): Promise<TestClient> {
  daemon = await startTestNode(home, { environment: repository.environment });
  const before = await connect();
  await before.call('workspace.register', { root: repository.root, workspaceId: sourceWorkspaceId });
  if (withWorktree) await create(before);
  before.close();
  await daemon.stop();
  daemon = null;
  child = await startNodeThatEndsAt(home.path, point);
  expect(child.told.ready).toBe(true);
  return connect();
}

async function startAgain() {
  expect((await child?.exit)?.signal).toBe('SIGKILL');
  client?.close();
  daemon = await startTestNode(home, { environment: repository.environment });
  const again = await connect();
  const list = () => again.call('worktree.list', { workspaceId: sourceWorkspaceId });
  await waitFor(async () => (await list()).recoveries.length === 0, 'everything to be settled');
  const { workspaces } = await again.call('workspace.list', {});
  return { again, paths: (await list()).worktrees.map(({ path }) => path), workspaces };
}

it('killed before git was asked to make a worktree, nothing is left, and it can be made', async () => {
  const dying = await nodeThatEndsAt('worktree-create:intended', false);
  await expect(create(dying)).rejects.toThrow('connection-lost');
  const { again, paths, workspaces } = await startAgain();
  expect([paths, workspaces.length, existsSync(one())]).toEqual([[repository.root], 1, false]);
  expect((await create(again)).workspace.id).toBe('one');
});

it('killed after git made a worktree, it is registered at the next start', async () => {
  const dying = await nodeThatEndsAt('worktree-create:added', false);
  await expect(create(dying)).rejects.toThrow('connection-lost');
  const { again, paths, workspaces } = await startAgain();
  expect(paths).toEqual([repository.root, one()]);
  expect(workspaces.map(({ id, root }) => [id, root])).toEqual([
    ['one', one()],
    ['source', repository.root],
  ]);
  await remove(again);
  expect(existsSync(one())).toBe(false);
});

it('killed while git makes a worktree, the next start waits for the end of that git', async () => {
  writeFileSync(
    join(repository.root, '.git/hooks/post-checkout'),
    '#!/bin/sh\n: > ../started\nwhile [ ! -e ../go ]; do sleep 0.05; done\n',
    { mode: 0o755 },
  );
  const dying = await nodeThatEndsAt('never', false);
  const lost = expect(create(dying)).rejects.toThrow('connection-lost');
  await waitFor(() => existsSync(repository.place('started')), 'git to run the hook');
  child?.child.kill('SIGKILL');
  await lost;
  await child?.exit;
  child = await startNodeProcess(home.path);
  const second = await connect();
  const list = () => second.call('worktree.list', { workspaceId: sourceWorkspaceId });
  expect((await list()).recoveries).toMatchObject([{ path: one(), act: 'create', why: 'running' }]);
  writeFileSync(repository.place('go'), '');
  await waitFor(async () => (await list()).recoveries.length === 0, 'it to be settled');
  expect((await list()).worktrees[1]).toMatchObject({ path: one(), workspaceId: 'one', branch: 'one' });
});

it.each(['worktree-remove:kept', 'worktree-remove:intended'])(
  'killed at %s, the worktree is there as it was, and can be removed',
  async (point) => {
    const dying = await nodeThatEndsAt(point, true);
    const before = [hashTree(one()), hashTree(repository.root, ['.git']), repository.refs()];
    await expect(remove(dying)).rejects.toThrow('connection-lost');
    const { again, paths, workspaces } = await startAgain();
    expect([hashTree(one()), hashTree(repository.root, ['.git']), repository.refs()]).toEqual(before);
    expect([paths, workspaces.length]).toEqual([[repository.root, one()], 2]);
    await remove(again);
    expect(repository.worktrees()).toEqual([repository.root]);
  },
);

it('killed after git removed the worktree, its workspace is gone at the next start, the branch is not', async () => {
  const dying = await nodeThatEndsAt('worktree-remove:removed', true);
  await expect(remove(dying)).rejects.toThrow('connection-lost');
  const { paths, workspaces } = await startAgain();
  expect([paths, workspaces.map(({ id }) => id)]).toEqual([[repository.root], ['source']]);
  expect(repository.try(['rev-parse', '--verify', '--quiet', 'refs/heads/one'])).toBe(0);
});

it('a removal that broke off in the middle is put back whole at the next start', async () => {
  repository.write('deep/er/file.txt', 'kept\n');
  repository.commit('more');
  const dying = await nodeThatEndsAt('worktree-remove:intended', true);
  const before = hashTree(one(), ['.git']);
  await expect(remove(dying)).rejects.toThrow('connection-lost');
  // As git leaves it when it is killed while it deletes.
  rmSync(join(one(), 'deep'), { recursive: true });
  rmSync(join(one(), '.git'));
  const { again, paths } = await startAgain();
  expect(paths).toEqual([repository.root, one()]);
  expect(hashTree(one(), ['.git'])).toBe(before);
  expect(repository.git(['status', '--porcelain'], one())).toBe('');
  await remove(again);
  expect(existsSync(one())).toBe(false);
});
