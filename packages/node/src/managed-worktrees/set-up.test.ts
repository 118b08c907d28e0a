import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LeaseId } from '@roost/protocol';
import { failureOf } from '../node-for-test.ts';
import { detailsOf, eachWithNode } from './managed-node-for-test.ts';

const on = eachWithNode();

describe('set-up', () => {
  it('copies named ignored files without following links, runs its commands with the ports, and tells what it could not copy', async () => {
    const { repository } = on.node.bench;
    repository.write('.env.secret', 'KEY=1\n');
    repository.write('ignored/deep/file', 'two\n');
    writeFileSync(join(on.node.home.path, 'outside'), 'private');
    symlinkSync(join(on.node.home.path, 'outside'), join(repository.root, 'link.secret'));
    symlinkSync(on.node.home.path, join(repository.root, 'ignored', 'away'));
    on.node.bench.profile('full', {
      copy: ['.env.secret', 'ignored', 'link.secret', 'gone.secret', 'file.txt', 'ignored/away/outside'],
      ports: { count: 2 },
      setup: [
        {
          command: [
            'sh',
            '-c',
            'echo "$ROOST_PORT_BASE $ROOST_PORT_COUNT $ROOST_WORKTREE_BRANCH"; echo made > ignored/made',
          ],
        },
      ],
      branchTemplate: 'work/{id}',
    });
    const lease = await on.node.allocate({ profileId: 'full' });
    const root = join(on.node.bench.trees, lease.id);
    expect(readFileSync(join(root, '.env.secret'), 'utf8')).toBe('KEY=1\n');
    expect(readFileSync(join(root, 'ignored/deep/file'), 'utf8')).toBe('two\n');
    expect(existsSync(join(root, 'link.secret'))).toBe(false);
    expect(existsSync(join(root, 'ignored/away'))).toBe(false);
    const { setup } = await on.node.client.call('worktree.evidence', { leaseId: lease.id });
    expect(setup).toMatchObject({
      outcome: 'done',
      output: `${lease.ports?.base ?? 0} 2 work/${lease.id}\n`,
    });
    expect(setup?.notCopied).toEqual([
      { path: 'ignored', reason: 'link' },
      { path: 'link.secret', reason: 'link' },
      { path: 'gone.secret', reason: 'missing' },
      { path: 'file.txt', reason: 'not-ignored' },
      { path: 'ignored/away/outside', reason: 'link' },
    ]);
    // What Roost put there is in nobody's way.
    expect((await on.node.client.call('worktree.cleanup', { leaseId: lease.id })).state).toBe('removed');
  });

  it.each([
    ['fails', ['sh', '-c', 'echo to be seen; exit 3'], 'failed'],
    ['is not there', ['no-such-program'], 'not-started'],
    ['takes too long', ['sleep', '60'], 'timed-out'],
  ])(
    'that %s starts no session and leaves a person its output and choices; the key is free',
    async (_, command, outcome) => {
      on.node.bench.profile('broken', {
        setup: [{ command, timeoutMs: outcome === 'timed-out' ? 200 : 20_000 }],
      });
      const request = on.node.bench.launch({ profileId: 'broken' });
      const refusal = on.node.client.call('worktree.spawn', request);
      expect(await failureOf(refusal)).toBe('worktree-setup-failed');
      const leaseId = (await detailsOf(refusal))?.leaseId as LeaseId;
      expect((await on.node.client.call('session.list', { includeEnded: true })).sessions).toEqual([]);
      const evidence = await on.node.client.call('worktree.evidence', { leaseId });
      expect(evidence).toMatchObject({
        lease: { state: 'recovery-required', failure: 'worktree-setup-failed', setup: 'failed' },
        setup: { outcome, output: outcome === 'failed' ? 'to be seen\n' : '' },
        verdict: 'owned',
        choices: ['keep', 'retry-cleanup', 'adopt-as-ready'],
      });
      await on.node.restart();
      expect((await on.node.bench.lease(on.node.client, leaseId)).state).toBe('recovery-required');
      on.node.bench.profile('broken', {});
      expect((await on.node.client.call('worktree.spawn', request)).worktree?.leaseId).not.toBe(leaseId);
      const removed = await on.node.client.call('worktree.resolve', { leaseId, choice: 'retry-cleanup' });
      expect(removed.state).toBe('removed');
    },
  );

  it('is answered by a tear-down before the removal, which a failure of it stops with its output', async () => {
    const flag = join(on.node.home.path, 'torn-down');
    on.node.bench.profile('down', {
      teardown: [{ command: ['sh', '-c', `test -e "${flag}" || { echo not yet; exit 1; }`] }],
    });
    const { id: leaseId } = await on.node.allocate({ profileId: 'down' });
    expect(await failureOf(on.node.client.call('worktree.cleanup', { leaseId }))).toBe(
      'worktree-teardown-failed',
    );
    const { teardown, lease } = await on.node.client.call('worktree.evidence', { leaseId });
    expect(teardown).toMatchObject({ outcome: 'failed', exitCode: 1, output: 'not yet\n' });
    expect(lease).toMatchObject({ state: 'cleanup-blocked', failure: 'worktree-teardown-failed' });
    writeFileSync(flag, '');
    expect((await on.node.client.call('worktree.cleanup', { leaseId })).state).toBe('removed');
  });
});
