import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { failureOf } from '../node-for-test.ts';
import { eachWithNode } from './managed-node-for-test.ts';

const on = eachWithNode();

describe('what a person decides', () => {
  it('keeps a worktree as an ordinary one, which takes launches like any other', async () => {
    const { id: leaseId } = await on.node.allocate();
    const kept = await on.node.client.call('worktree.resolve', { leaseId, choice: 'keep' });
    expect(kept).toMatchObject({ state: 'removed', outcome: 'kept', branchKept: true });
    const root = join(on.node.bench.trees, leaseId);
    await on.node.client.call('session.spawn', {
      directory: root,
      launch: { kind: 'command', command: ['sleep', '60'] },
    });
    expect(on.node.bench.repository.worktrees()).toContain(root);
  });

  it('heals a directory that was removed by hand, and touches no other entry', async () => {
    const one = await on.node.allocate();
    const two = await on.node.allocate();
    for (const { id } of [one, two]) rmSync(join(on.node.bench.trees, id), { recursive: true });
    const evidence = await on.node.client.call('worktree.evidence', { leaseId: one.id });
    expect(evidence).toMatchObject({ verdict: 'directory-gone', choices: ['retry-cleanup'] });
    await on.node.client.call('worktree.cleanup', { leaseId: one.id });
    expect(on.node.bench.repository.worktrees()).toEqual([
      on.node.bench.repository.root,
      join(on.node.bench.trees, two.id),
    ]);
  });

  it('is offered only what the evidence allows: another branch, somebody else’s directory, nothing at all', async () => {
    const moved = await on.node.allocate();
    on.node.bench.repository.git(
      ['checkout', '--quiet', '-b', 'elsewhere'],
      join(on.node.bench.trees, moved.id),
    );
    expect(await failureOf(on.node.client.call('worktree.cleanup', { leaseId: moved.id }))).toBe(
      'worktree-not-owned',
    );
    expect(await on.node.client.call('worktree.evidence', { leaseId: moved.id })).toMatchObject({
      verdict: 'not-ours',
      choices: ['keep'],
      lease: { state: 'recovery-required', failure: 'worktree-not-owned' },
    });
    const refused = on.node.client.call('worktree.resolve', { leaseId: moved.id, choice: 'forget' });
    expect(await failureOf(refused)).toBe('worktree-choice-refused');

    const replaced = await on.node.allocate();
    on.node.bench.repository.git(['worktree', 'remove', join(on.node.bench.trees, replaced.id)]);
    mkdirSync(join(on.node.bench.trees, replaced.id));
    writeFileSync(join(on.node.bench.trees, replaced.id, 'canary'), 'mine');
    expect(await failureOf(on.node.client.call('worktree.cleanup', { leaseId: replaced.id }))).toBe(
      'worktree-not-owned',
    );
    expect((await on.node.client.call('worktree.evidence', { leaseId: replaced.id })).choices).toEqual([]);
    expect(existsSync(join(on.node.bench.trees, replaced.id, 'canary'))).toBe(true);

    rmSync(join(on.node.bench.trees, replaced.id), { recursive: true });
    expect((await on.node.client.call('worktree.evidence', { leaseId: replaced.id })).choices).toEqual([
      'retry-cleanup',
      'forget',
    ]);
    const forgotten = await on.node.client.call('worktree.resolve', {
      leaseId: replaced.id,
      choice: 'forget',
    });
    expect(forgotten).toMatchObject({ state: 'removed', outcome: 'forgotten' });
  });

  it('decides nothing while the directory that worktrees are made in is not there', async () => {
    const { id: leaseId } = await on.node.allocate();
    on.node.bench.repository.git(['worktree', 'list']);
    const aside = join(on.node.bench.repository.base, 'aside');
    renameSync(on.node.bench.trees, aside);
    const evidence = await on.node.client.call('worktree.evidence', { leaseId });
    expect(evidence).toMatchObject({ authority: 'lost', verdict: 'not-ours', choices: [] });
    await on.node.restart();
    expect(await on.node.bench.lease(on.node.client, leaseId)).toMatchObject({ state: 'recovery-required' });
    renameSync(aside, on.node.bench.trees);
    await on.node.restart();
    expect(await on.node.bench.until(on.node.client, leaseId, 'ready')).toMatchObject({ failure: null });
  });
});
