import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addressOf, WorkspaceId, type WorktreeLease } from '@roost/protocol';
import { failureOf, TestClient, waitFor } from '../node-for-test.ts';
import { openDatabase } from '../store/open-database.ts';
import { hashTree } from '../worktrees/repository-for-test.ts';
import { detailsOf, eachWithNode } from './managed-node-for-test.ts';

const on = eachWithNode();
const started = () => readFileSync(join(on.node.home.path, 'started'), 'utf8').trim().split('\n');

describe('a launch into a new worktree', () => {
  it('makes one on a branch of its own, runs there, and tells it in the receipt beside the workspace asked for', async () => {
    const main = hashTree(on.node.bench.repository.root, ['.git']);
    const head = on.node.bench.repository.git(['rev-parse', 'HEAD']);
    const { receipt, worktree, root } = await on.node.spawn({}, { name: 'reviewer' });
    expect(receipt.target.workspaceId).toBe('repo');
    expect(receipt.session.workspaceId).toBe(worktree.workspaceId);
    expect(worktree).toMatchObject({
      workspaceId: worktree.leaseId,
      sourceWorkspaceId: 'repo',
      profileId: 'plain',
      branch: 'roost/reviewer',
      baseCommit: head,
      ports: null,
    });
    await waitFor(() => existsSync(join(on.node.home.path, 'started')), 'the agent to start');
    expect(started()[0]?.split('|').slice(0, 3)).toEqual([receipt.session.sessionId, root, root]);
    expect(await on.node.bench.lease(on.node.client, worktree.leaseId)).toMatchObject({
      state: 'in-use',
      holders: { sessions: 1, records: 1 },
      setup: 'done',
    });
    expect(on.node.bench.repository.git(['rev-parse', 'HEAD'], root)).toBe(head);
    expect(hashTree(on.node.bench.repository.root, ['.git'])).toBe(main);
  });

  it('tells every step as an event with the whole lease, and the snapshot agrees', async () => {
    const { lastEventSequence: after } = await on.node.client.call('node.status', {});
    const { worktree } = await on.node.spawn();
    const { events } = await on.node.client.call('events.read', { after });
    const told = events.flatMap(({ body }) =>
      body.kind === 'worktree-changed'
        ? [body.lease.state]
        : body.kind === 'workspace-registered'
          ? [body.kind]
          : [],
    );
    expect([...new Set(told)]).toEqual(['allocating', 'workspace-registered', 'ready', 'in-use']);
    const { worktrees, launchInventory } = await on.node.client.call('node.snapshot', {});
    expect(worktrees).toEqual([await on.node.bench.lease(on.node.client, worktree.leaseId)]);
    expect(launchInventory.worktreeProfiles).toEqual([
      {
        id: 'plain',
        revision: 'r1',
        description: null,
        sourceWorkspace: 'repo',
        retention: 'remove-when-released',
        ports: 0,
      },
    ]);
    expect(JSON.stringify(launchInventory)).not.toContain(on.node.bench.trees);
  });

  it('answers its key exactly, also after a restart with another profile; another request under it is a conflict', async () => {
    const request = on.node.bench.launch();
    const receipt = await on.node.client.call('worktree.spawn', request);
    on.node.bench.profile('plain', { revision: 'r2' });
    await on.node.restart();
    expect(await on.node.client.call('worktree.spawn', request)).toEqual(receipt);
    const other = { ...request, spec: { ...request.spec, deadlineMs: 19_000 } };
    expect(await failureOf(on.node.client.call('worktree.spawn', other))).toBe('spawn-idempotency-conflict');
    expect(await failureOf(on.node.client.call('worktree.spawn', on.node.bench.launch()))).toBe(
      'worktree-profile-revision-mismatch',
    );
    expect((await on.node.client.call('worktree.leases', { includeRemoved: true })).leases).toHaveLength(1);
  });

  it('makes one worktree of two requests with one key at once', async () => {
    const request = on.node.bench.launch();
    const second = await TestClient.connect(on.node.daemon.socket, { clientName: 'other' });
    // The lease is taken briefly by each of them in turn: the second one waits for the answer of the first.
    const answers = await Promise.allSettled([
      on.node.client.call('worktree.spawn', request),
      on.node.client.call('worktree.spawn', request),
      second.call('worktree.spawn', request),
    ]);
    const receipts = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(receipts.length).toBeGreaterThan(0);
    for (const one of receipts) expect(one).toEqual(receipts[0]);
    expect(readdirSync(on.node.bench.trees)).toHaveLength(1);
    second.close();
  });

  it('is refused before a worktree is made: profile, revision, program, workspace', async () => {
    const refs = on.node.bench.repository.refs();
    const refused = (worktree: Record<string, unknown>, spec: Record<string, unknown> = {}) =>
      failureOf(on.node.client.call('worktree.spawn', on.node.bench.launch(worktree, spec)));
    expect(await refused({ profileId: 'absent' })).toBe('unknown-worktree-profile');
    expect(await refused({ expectedRevision: 'r9' })).toBe('worktree-profile-revision-mismatch');
    expect(await refused({}, { expectedRevision: 'r9' })).toBe('spawn-profile-revision-mismatch');
    expect(await refused({}, { overrides: { provider: { kind: 'set', value: 'codex' } } })).toBe(
      'provider-not-installed',
    );
    expect(await refused({}, { target: { nodeId: on.node.bench.nodeId, workspaceId: 'absent' } })).toBe(
      'unknown-workspace',
    );
    expect(on.node.onlyMain()).toBe(true);
    expect(on.node.bench.repository.refs()).toBe(refs);
    expect((await on.node.client.call('worktree.leases', { includeRemoved: true })).leases).toEqual([]);
  });

  it('never takes over a branch; a name that is free works under the same key', async () => {
    on.node.bench.repository.git(['branch', 'roost/mine']);
    const request = on.node.bench.launch({ branch: 'roost/mine' });
    const refusal = on.node.client.call('worktree.spawn', request);
    expect(await failureOf(refusal)).toBe('branch-exists');
    expect(await detailsOf(refusal)).toMatchObject({ branch: 'roost/mine', choices: ['other-name'] });
    const again = { ...request, worktree: { ...request.worktree, branch: 'roost/other' } };
    const receipt = await on.node.client.call('worktree.spawn', again);
    expect(receipt.worktree?.branch).toBe('roost/other');
  });
});

describe('a managed worktree', () => {
  it('goes with the last session of an agent that cannot be resumed, with its merged branch', async () => {
    const made = await on.node.spawn({}, { profileId: 'shell' });
    expect(await on.node.bench.lease(on.node.client, made.worktree.leaseId)).toMatchObject({
      holders: { sessions: 1, records: 0 },
    });
    await on.node.end(made);
    const lease = await on.node.bench.until(on.node.client, made.worktree.leaseId, 'removed');
    expect(lease).toMatchObject({ outcome: 'removed', branchKept: false, recoveryRefs: [] });
    expect(on.node.onlyMain()).toBe(true);
    const { workspaces } = await on.node.client.call('workspace.list', {});
    expect(workspaces.map(({ id }) => id)).toEqual(['repo']);
    const { records } = await on.node.client.call('record.list', {});
    expect(records).toMatchObject([{ state: 'unavailable', lastError: 'workspace-unavailable' }]);
    expect((await on.node.client.call('node.snapshot', {})).worktrees).toEqual([]);
  });

  it('is held by a record that can be resumed; a resume gets its ports again, and forgetting the record frees it', async () => {
    on.node.bench.profile('ports', { ports: { count: 3 } });
    const made = await on.node.spawn({ profileId: 'ports' });
    await on.node.end(made);
    const lease = await on.node.bench.until(on.node.client, made.worktree.leaseId, 'in-use');
    await waitFor(
      async () => (await on.node.bench.lease(on.node.client, lease.id)).holders.sessions === 0,
      'the session to end',
    );
    expect(await failureOf(on.node.client.call('worktree.cleanup', { leaseId: lease.id }))).toBe(
      'worktree-in-use',
    );
    const { session } = await on.node.client.call('record.resume', { recordId: made.receipt.recordId });
    await waitFor(() => started().length === 2, 'the resumed agent');
    const [first, second] = started().map((line) => line.split('|'));
    expect(second?.slice(1, 5)).toEqual(first?.slice(1, 5));
    expect(second?.slice(3, 5)).toEqual([String(lease.ports?.base), '3']);
    await on.node.client.call('session.stop', { ...addressOf(session), force: true });
    await on.node.client.call('record.forget', { recordId: made.receipt.recordId });
    await on.node.bench.until(on.node.client, lease.id, 'removed');
    expect(on.node.onlyMain()).toBe(true);
  });

  it('takes no other launch, registration or removal, in whatever way it is asked for', async () => {
    const { worktree, root } = await on.node.spawn();
    const { leaseId } = worktree;
    mkdirSync(join(root, 'inside'));
    const refused = (work: Promise<unknown>) => failureOf(work);
    const command: { kind: 'command'; command: string[] } = { kind: 'command', command: ['sleep', '60'] };
    expect(await refused(on.node.client.call('session.spawn', { directory: root, launch: command }))).toBe(
      'worktree-managed',
    );
    expect(
      await refused(
        on.node.client.call('session.spawn', { directory: join(root, 'inside'), launch: command }),
      ),
    ).toBe('worktree-managed');
    symlinkSync(root, join(on.node.home.path, 'alias'));
    expect(
      await refused(
        on.node.client.call('session.spawn', {
          directory: join(on.node.home.path, 'alias'),
          launch: command,
        }),
      ),
    ).toBe('worktree-managed');
    const spec = on.node.bench.launch().spec;
    const target = { nodeId: on.node.bench.nodeId, workspaceId: leaseId };
    expect(await refused(on.node.client.call('spawn.submit', { ...spec, target }))).toBe('worktree-managed');
    expect(
      await refused(on.node.client.call('worktree.spawn', on.node.bench.launch({}, { target }))),
    ).not.toBe('accepted');
    expect(await refused(on.node.client.call('workspace.register', { root: join(root, 'inside') }))).toBe(
      'worktree-managed',
    );
    expect(await refused(on.node.client.call('workspace.unregister', { workspaceId: leaseId }))).toBe(
      'worktree-managed',
    );
    expect(await refused(on.node.client.call('workspace.unregister', { workspaceId: 'repo' }))).toBe(
      'worktree-managed',
    );
    expect((await on.node.client.call('session.list', {})).sessions).toHaveLength(1);
  });

  it('takes a launch that names its lease', async () => {
    const lease = await on.node.allocate();
    const request = on.node.bench.launch();
    const receipt = await on.node.client.call('worktree.spawn', {
      ...request,
      worktree: { kind: 'lease', leaseId: lease.id },
    });
    expect(receipt.worktree?.leaseId).toBe(lease.id);
    expect(await on.node.bench.lease(on.node.client, lease.id)).toMatchObject({ state: 'in-use' });
  });

  it('that holds work nobody committed stays, says so, and can be cleaned up when that is done', async () => {
    const made = await on.node.spawn({}, { profileId: 'shell' });
    const { leaseId } = made.worktree;
    writeFileSync(join(made.root, 'new.txt'), 'work\n');
    await on.node.end(made);
    expect(await on.node.bench.until(on.node.client, leaseId, 'cleanup-blocked')).toMatchObject({
      failure: 'worktree-dirty',
    });
    const again = on.node.client.call('worktree.cleanup', { leaseId });
    expect(await failureOf(again)).toBe('worktree-dirty');
    expect(await detailsOf(again)).toEqual({ leaseId, changed: 0, untracked: 1, names: ['new.txt'] });
    const commit = on.node.bench.repository.commit('work', made.root);
    const lease = await on.node.client.call('worktree.cleanup', { leaseId });
    expect(lease).toMatchObject({ state: 'removed', outcome: 'removed', branchKept: true, head: commit });
    expect(on.node.bench.repository.git(['rev-parse', lease.branch])).toBe(commit);
    expect(await on.node.client.call('worktree.cleanup', { leaseId })).toEqual(lease);
    expect(on.node.onlyMain()).toBe(true);
  });

  it('leaves a recovery ref for commits that only it remembered, and says which', async () => {
    const lease = await on.node.allocate();
    const root = join(on.node.bench.trees, lease.id);
    const [one, two] = ['one', 'two'].map((name) => {
      const commit = on.node.bench.repository.commit(name, root);
      on.node.bench.repository.git(['reset', '--quiet', '--hard', 'HEAD~1'], root);
      return commit;
    });
    const removed = await on.node.client.call('worktree.cleanup', { leaseId: lease.id });
    expect(removed.recoveryRefs).toHaveLength(1);
    const kept = on.node.bench.repository.git(['rev-list', removed.recoveryRefs[0] ?? '']);
    expect(kept).toContain(one);
    expect(kept).toContain(two);
    expect(on.node.bench.repository.git(['fsck', '--no-reflogs', '--unreachable'])).toBe('');
  });

  it('is removed only when asked for, when its profile retains it', async () => {
    on.node.bench.profile('kept', { retention: 'retain' });
    const made = await on.node.spawn({ profileId: 'kept' }, { profileId: 'shell' });
    await on.node.end(made);
    await on.node.bench.until(on.node.client, made.worktree.leaseId, 'retained');
    await on.node.restart();
    await on.node.bench.until(on.node.client, made.worktree.leaseId, 'retained');
    expect(existsSync(made.root)).toBe(true);
    await on.node.client.call('worktree.cleanup', { leaseId: made.worktree.leaseId });
    expect(on.node.onlyMain()).toBe(true);
  });
});

describe('what others notice', () => {
  it('is named by the inspection of its workspace while its branch is checked out and somebody needs it', async () => {
    const seen = async (client = on.node.client) =>
      (await client.call('workspace.inspect', { workspaceId: WorkspaceId.parse(made.worktree.leaseId) })).git
        .managedWorktree;
    const made = await on.node.spawn();
    const { leaseId, branch, baseCommit } = made.worktree;
    const named = { leaseId, sourceWorkspaceId: 'repo', branch, baseCommit, sessions: 1, records: 1 };
    expect(await seen()).toEqual(named);
    const older = await TestClient.connect(on.node.daemon.socket, { capabilities: [], role: 'observer' });
    expect(await seen(older)).toBeUndefined();
    older.close();
    const { repository } = on.node.bench;
    repository.git(['checkout', '--quiet', '-b', 'elsewhere'], made.root);
    expect(await seen()).toBeUndefined();
    repository.git(['checkout', '--quiet', '--detach'], made.root);
    expect(await seen()).toBeUndefined();
    repository.git(['checkout', '--quiet', branch], made.root);
    expect(await seen()).toEqual(named);
    const source = await on.node.client.call('workspace.inspect', { workspaceId: WorkspaceId.parse('repo') });
    expect(source.git.managedWorktree).toBeUndefined();
    const idle = await on.node.allocate();
    const { git } = await on.node.client.call('workspace.inspect', { workspaceId: idle.workspaceId });
    expect([git.status.kind, git.managedWorktree]).toEqual(['repository', undefined]);
  });

  it('is nothing that a peer sees which does not know it', async () => {
    await on.node.allocate();
    const older = await TestClient.connect(on.node.daemon.socket, {
      capabilities: ['compatibility.metadata'],
    });
    const snapshot = await older.call('node.snapshot', {});
    expect(snapshot.worktrees ?? null).toBeNull();
    expect(snapshot.launchInventory.worktreeProfiles ?? null).toBeNull();
    expect(await failureOf(older.call('worktree.leases', {}))).toBe('unsupported-capability');
    older.close();
  });

  it('waits for what is left of removed sessions', async () => {
    const made = await on.node.spawn({}, { profileId: 'shell' });
    const { leaseId } = made.worktree;
    await on.node.end(made);
    await on.node.client.call('session.remove', made.receipt.session).catch(() => undefined);
    await on.node.bench.until(on.node.client, leaseId, 'removed');
    expect(existsSync(join(on.node.home.path, 'sessions', made.receipt.session.sessionId))).toBe(false);
  });
});

describe('many at once', () => {
  it('get distinct branches, directories and ports', async () => {
    on.node.bench.profile('ports', { ports: { count: 7 } });
    const leases = await Promise.all(
      Array.from({ length: 20 }, () => on.node.allocate({ profileId: 'ports' })),
    );
    const distinct = (values: readonly unknown[]) => new Set(values).size;
    expect(distinct(leases.map(({ branch }) => branch))).toBe(20);
    const ports = leases.flatMap(({ ports: block }) =>
      block === null ? [] : Array.from({ length: block.count }, (_, index) => block.base + index),
    );
    expect([ports.length, distinct(ports)]).toEqual([140, 140]);
    expect(on.node.bench.repository.worktrees()).toHaveLength(21);
  });
});

describe('a worktree on which something is still at work when the node starts', () => {
  it('waits for that alone: others are made meanwhile, and it goes on when that has ended', async () => {
    const { node } = on;
    const { id } = await node.allocate();
    await node.stop();
    const database = openDatabase(join(node.home.path, 'node.db'));
    database.run('UPDATE worktree_leases SET cleaning = 1 WHERE id = ?', id);
    database.close();
    const atWork = spawn('/bin/sh', ['-c', 'read -r _', join(node.bench.trees, id)]);
    try {
      await node.start();
      const other = await node.allocate();
      expect(other.state).toBe('ready');
      expect((await node.bench.lease(node.client, id)).state).toBe('ready');
      // A restart in between decides nothing.
      await node.restart();
      expect((await node.bench.lease(node.client, id)).state).toBe('ready');
    } finally {
      atWork.kill('SIGKILL');
    }
    await node.bench.until(node.client, id, 'removed');
  });

  it('is waited for by the request that it was made for', async () => {
    const { node } = on;
    const asked = node.bench.allocation();
    const { id } = await node.client.call('worktree.allocate', asked);
    await node.stop();
    const database = openDatabase(join(node.home.path, 'node.db'));
    database.run(`UPDATE worktree_leases SET state = 'allocating', head = NULL WHERE id = ?`, id);
    database.close();
    node.bench.repository.git(['worktree', 'remove', join(node.bench.trees, id)]);
    const atWork = spawn('/bin/sh', ['-c', 'read -r _', join(node.bench.trees, id)]);
    let again: Promise<WorktreeLease>;
    try {
      await node.start();
      again = node.client.call('worktree.allocate', asked);
      again.catch(() => undefined);
      await node.client.call('worktree.leases', {});
    } finally {
      atWork.kill('SIGKILL');
    }
    // The start takes the first one away; its branch is another's by then, or gone with it.
    const lease = await again;
    expect(lease.state).toBe('ready');
    expect(lease.id).not.toBe(id);
  });
});
