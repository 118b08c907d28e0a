import { existsSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LeaseId } from '@roost/protocol';
import { failureOf } from '../node-for-test.ts';
import { detailsOf, eachWithNode } from './managed-node-for-test.ts';

const on = eachWithNode();

describe('ignored files', () => {
  const SECRET = 'own.secret';
  const blockedBy = async (leaseId: LeaseId) => {
    const { client, bench } = on.node;
    const refusal = client.call('worktree.cleanup', { leaseId });
    expect(await failureOf(refusal)).toBe('worktree-dirty');
    expect(await bench.lease(client, leaseId)).toMatchObject({
      state: 'cleanup-blocked',
      failure: 'worktree-dirty',
    });
    return (await detailsOf(refusal))?.names;
  };

  it('that were copied or made, and changed since, stop the removal until they are as they were', async () => {
    const { client, bench, allocate } = prepared({
      setup: [
        { command: ['sh', '-c', 'mkdir -p ignored/a && echo made > ignored/a/b; echo more >> own.secret'] },
      ],
    });
    const { id: leaseId } = await allocate();
    const root = join(bench.trees, leaseId);
    // Of the same length and with the same times.
    const { atime, mtime } = statSync(join(root, SECRET));
    writeFileSync(join(root, SECRET), 'KEY=2\nmore\n');
    utimesSync(join(root, SECRET), atime, mtime);
    expect(await blockedBy(leaseId)).toEqual([SECRET]);
    writeFileSync(join(root, 'ignored/a/new'), '');
    expect(await blockedBy(leaseId)).toEqual(['ignored/', SECRET]);
    writeFileSync(join(root, SECRET), 'KEY=1\nmore\n');
    expect(await blockedBy(leaseId)).toEqual(['ignored/']);
    expect(existsSync(join(root, 'ignored/a/new'))).toBe(true);
    rmSync(join(root, 'ignored/a/new'));
    // What is gone is no loss.
    rmSync(join(root, SECRET));
    expect((await client.call('worktree.cleanup', { leaseId })).state).toBe('removed');
  });

  it('that changed stay with the last session, too, and go when the profile says so', async () => {
    const { client, bench } = prepared({});
    const kept = await on.node.spawn({}, { profileId: 'shell' });
    writeFileSync(join(kept.root, SECRET), 'KEY=2\n');
    await on.node.end(kept);
    await bench.until(client, kept.worktree.leaseId, 'cleanup-blocked');
    expect(readFileSync(join(kept.root, SECRET), 'utf8')).toBe('KEY=2\n');
    bench.profile('plain', { copy: [SECRET], discardIgnored: true });
    const discarded = await on.node.spawn({}, { profileId: 'shell' });
    writeFileSync(join(discarded.root, SECRET), 'KEY=2\n');
    await on.node.end(discarded);
    await bench.until(client, discarded.worktree.leaseId, 'removed');
  });

  it('that a tear-down writes stop nothing, nor do directories that tools make anew', async () => {
    const { client, bench, allocate } = prepared({
      setup: [{ command: ['sh', '-c', 'mkdir -p ignored/node_modules && echo made > ignored/made'] }],
      teardown: [
        { command: ['sh', '-c', 'echo torn down > ignored/made; echo x > new.secret; echo x > own.secret'] },
      ],
    });
    const { id: leaseId } = await allocate();
    writeFileSync(join(bench.trees, leaseId, 'ignored/node_modules/built'), '');
    expect((await client.call('worktree.cleanup', { leaseId })).state).toBe('removed');
    expect(on.node.onlyMain()).toBe(true);
  });

  function prepared(profile: Record<string, unknown>) {
    const { client, bench } = on.node;
    bench.repository.write(SECRET, 'KEY=1\n');
    bench.profile('plain', { copy: [SECRET], ...profile });
    return { client, bench, allocate: () => on.node.allocate() };
  }
});
