import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  addressOf,
  FailureError,
  type LeaseId,
  type SpawnReceipt,
  type WorktreeReceipt,
} from '@roost/protocol';
import type { Daemon } from '../daemon.ts';
import { failureOf, startTestNode, TestClient, TestHome, waitFor } from '../node-for-test.ts';
import { hashTree } from '../worktrees/repository-for-test.ts';
import { ManagedBench } from './managed-for-test.ts';

let home: TestHome;
let bench: ManagedBench;
let daemon: Daemon;
let client: TestClient;

const start = async () => {
  daemon = await startTestNode(home, { environment: bench.environment });
  client = await TestClient.connect(daemon.socket);
  bench.nodeId = daemon.identity.nodeId;
};
const restart = async () => {
  client.close();
  await daemon.stop();
  await start();
};

beforeEach(async () => {
  home = new TestHome();
  bench = new ManagedBench(home);
  await start();
  await bench.register(client);
});
afterEach(async () => {
  client.close();
  await daemon.stop();
  await home.remove();
  bench.remove();
});

const spawn = async (
  worktree: Record<string, unknown> = {},
  spec: Record<string, unknown> = {},
): Promise<{ receipt: SpawnReceipt; worktree: WorktreeReceipt; root: string }> => {
  const receipt = await client.call('worktree.spawn', bench.launch(worktree, spec));
  if (receipt.worktree === null) throw new Error('the receipt names its worktree');
  return { receipt, worktree: receipt.worktree, root: join(bench.trees, receipt.worktree.leaseId) };
};
const end = async ({ receipt }: { receipt: SpawnReceipt }) => {
  await client.call('session.stop', { ...receipt.session, force: true });
};
const started = () => readFileSync(join(home.path, 'started'), 'utf8').trim().split('\n');
const allocate = (more: Record<string, unknown> = {}) =>
  client.call('worktree.allocate', bench.allocation(more));
const detailsOf = async (work: Promise<unknown>) => {
  try {
    await work;
  } catch (error) {
    if (error instanceof FailureError) return error.failure.details;
    throw error;
  }
  throw new Error('it did not fail');
};
const onlyMain = () => bench.repository.worktrees().length === 1 && readdirSync(bench.trees).length === 0;

describe('a launch into a new worktree', () => {
  it('makes one on a branch of its own, runs there, and tells it in the receipt beside the workspace asked for', async () => {
    const main = hashTree(bench.repository.root, ['.git']);
    const head = bench.repository.git(['rev-parse', 'HEAD']);
    const { receipt, worktree, root } = await spawn({}, { name: 'reviewer' });
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
    await waitFor(() => existsSync(join(home.path, 'started')), 'the agent to start');
    expect(started()[0]?.split('|').slice(0, 3)).toEqual([receipt.session.sessionId, root, root]);
    expect(await bench.lease(client, worktree.leaseId)).toMatchObject({
      state: 'in-use',
      holders: { sessions: 1, records: 1 },
      setup: 'done',
    });
    expect(bench.repository.git(['rev-parse', 'HEAD'], root)).toBe(head);
    expect(hashTree(bench.repository.root, ['.git'])).toBe(main);
  });

  it('tells every step as an event with the whole lease, and the snapshot agrees', async () => {
    const { lastEventSequence: after } = await client.call('node.status', {});
    const { worktree } = await spawn();
    const { events } = await client.call('events.read', { after });
    const told = events.flatMap(({ body }) =>
      body.kind === 'worktree-changed'
        ? [body.lease.state]
        : body.kind.startsWith('workspace')
          ? [body.kind]
          : [],
    );
    expect([...new Set(told)]).toEqual(['allocating', 'workspace-registered', 'ready', 'in-use']);
    const { worktrees, launchInventory } = await client.call('node.snapshot', {});
    expect(worktrees).toEqual([await bench.lease(client, worktree.leaseId)]);
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
    expect(JSON.stringify(launchInventory)).not.toContain(bench.trees);
  });

  it('answers its key exactly, also after a restart with another profile; another request under it is a conflict', async () => {
    const request = bench.launch();
    const receipt = await client.call('worktree.spawn', request);
    bench.profile('plain', { revision: 'r2' });
    await restart();
    expect(await client.call('worktree.spawn', request)).toEqual(receipt);
    const other = { ...request, spec: { ...request.spec, deadlineMs: 19_000 } };
    expect(await failureOf(client.call('worktree.spawn', other))).toBe('spawn-idempotency-conflict');
    expect(await failureOf(client.call('worktree.spawn', bench.launch()))).toBe(
      'worktree-profile-revision-mismatch',
    );
    expect((await client.call('worktree.leases', { includeRemoved: true })).leases).toHaveLength(1);
  });

  it('makes one worktree of two requests with one key at once', async () => {
    const request = bench.launch();
    const second = await TestClient.connect(daemon.socket, { clientName: 'other' });
    // The lease is taken briefly by each of them in turn: the second one waits for the answer of the first.
    const answers = await Promise.allSettled([
      client.call('worktree.spawn', request),
      client.call('worktree.spawn', request),
      second.call('worktree.spawn', request),
    ]);
    const receipts = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(receipts.length).toBeGreaterThan(0);
    for (const one of receipts) expect(one).toEqual(receipts[0]);
    expect(readdirSync(bench.trees)).toHaveLength(1);
    second.close();
  });

  it('is refused before a worktree is made: profile, revision, program, workspace', async () => {
    const refs = bench.repository.refs();
    const refused = (worktree: Record<string, unknown>, spec: Record<string, unknown> = {}) =>
      failureOf(client.call('worktree.spawn', bench.launch(worktree, spec)));
    expect(await refused({ profileId: 'absent' })).toBe('unknown-worktree-profile');
    expect(await refused({ expectedRevision: 'r9' })).toBe('worktree-profile-revision-mismatch');
    expect(await refused({}, { expectedRevision: 'r9' })).toBe('spawn-profile-revision-mismatch');
    expect(await refused({}, { overrides: { provider: { kind: 'set', value: 'codex' } } })).toBe(
      'provider-not-installed',
    );
    expect(await refused({}, { target: { nodeId: bench.nodeId, workspaceId: 'absent' } })).toBe(
      'unknown-workspace',
    );
    expect(onlyMain()).toBe(true);
    expect(bench.repository.refs()).toBe(refs);
    expect((await client.call('worktree.leases', { includeRemoved: true })).leases).toEqual([]);
  });

  it('never takes over a branch; a name that is free works under the same key', async () => {
    bench.repository.git(['branch', 'roost/mine']);
    const request = bench.launch({ branch: 'roost/mine' });
    const refusal = client.call('worktree.spawn', request);
    expect(await failureOf(refusal)).toBe('branch-exists');
    expect(await detailsOf(refusal)).toMatchObject({ branch: 'roost/mine', choices: ['other-name'] });
    const again = { ...request, worktree: { ...request.worktree, branch: 'roost/other' } };
    const receipt = await client.call('worktree.spawn', again);
    expect(receipt.worktree?.branch).toBe('roost/other');
  });
});

describe('a managed worktree', () => {
  it('goes with the last session of an agent that cannot be resumed, with its merged branch', async () => {
    const made = await spawn({}, { profileId: 'shell' });
    expect(await bench.lease(client, made.worktree.leaseId)).toMatchObject({
      holders: { sessions: 1, records: 0 },
    });
    await end(made);
    const lease = await bench.until(client, made.worktree.leaseId, 'removed');
    expect(lease).toMatchObject({ outcome: 'removed', branchKept: false, recoveryRefs: [] });
    expect(onlyMain()).toBe(true);
    const { workspaces } = await client.call('workspace.list', {});
    expect(workspaces.map(({ id }) => id)).toEqual(['repo']);
    const { records } = await client.call('record.list', {});
    expect(records).toMatchObject([{ state: 'unavailable', lastError: 'workspace-unavailable' }]);
    expect((await client.call('node.snapshot', {})).worktrees).toEqual([]);
  });

  it('is held by a record that can be resumed; a resume gets its ports again, and forgetting the record frees it', async () => {
    bench.profile('ports', { ports: { count: 3 } });
    const made = await spawn({ profileId: 'ports' });
    await end(made);
    const lease = await bench.until(client, made.worktree.leaseId, 'in-use');
    await waitFor(
      async () => (await bench.lease(client, lease.id)).holders.sessions === 0,
      'the session to end',
    );
    expect(await failureOf(client.call('worktree.cleanup', { leaseId: lease.id }))).toBe('worktree-in-use');
    const { session } = await client.call('record.resume', { recordId: made.receipt.recordId });
    await waitFor(() => started().length === 2, 'the resumed agent');
    const [first, second] = started().map((line) => line.split('|'));
    expect(second?.slice(1, 5)).toEqual(first?.slice(1, 5));
    expect(second?.slice(3, 5)).toEqual([String(lease.ports?.base), '3']);
    await client.call('session.stop', { ...addressOf(session), force: true });
    await client.call('record.forget', { recordId: made.receipt.recordId });
    await bench.until(client, lease.id, 'removed');
    expect(onlyMain()).toBe(true);
  });

  it('takes no other launch, registration or removal, in whatever way it is asked for', async () => {
    const { worktree, root } = await spawn();
    const { leaseId } = worktree;
    mkdirSync(join(root, 'inside'));
    const refused = (work: Promise<unknown>) => failureOf(work);
    const command: { kind: 'command'; command: string[] } = { kind: 'command', command: ['sleep', '60'] };
    expect(await refused(client.call('session.spawn', { directory: root, launch: command }))).toBe(
      'worktree-managed',
    );
    expect(
      await refused(client.call('session.spawn', { directory: join(root, 'inside'), launch: command })),
    ).toBe('worktree-managed');
    symlinkSync(root, join(home.path, 'alias'));
    expect(
      await refused(client.call('session.spawn', { directory: join(home.path, 'alias'), launch: command })),
    ).toBe('worktree-managed');
    const spec = bench.launch().spec;
    const target = { nodeId: bench.nodeId, workspaceId: leaseId };
    expect(await refused(client.call('spawn.submit', { ...spec, target }))).toBe('worktree-managed');
    expect(await refused(client.call('worktree.spawn', bench.launch({}, { target })))).not.toBe('accepted');
    expect(await refused(client.call('workspace.register', { root: join(root, 'inside') }))).toBe(
      'worktree-managed',
    );
    expect(await refused(client.call('workspace.unregister', { workspaceId: leaseId }))).toBe(
      'worktree-managed',
    );
    expect(await refused(client.call('workspace.unregister', { workspaceId: 'repo' }))).toBe(
      'worktree-managed',
    );
    expect((await client.call('session.list', {})).sessions).toHaveLength(1);
  });

  it('takes a launch that names its lease', async () => {
    const lease = await allocate();
    const request = bench.launch();
    const receipt = await client.call('worktree.spawn', {
      ...request,
      worktree: { kind: 'lease', leaseId: lease.id },
    });
    expect(receipt.worktree?.leaseId).toBe(lease.id);
    expect(await bench.lease(client, lease.id)).toMatchObject({ state: 'in-use' });
  });

  it('that holds work nobody committed stays, says so, and can be cleaned up when that is done', async () => {
    const made = await spawn({}, { profileId: 'shell' });
    const { leaseId } = made.worktree;
    writeFileSync(join(made.root, 'new.txt'), 'work\n');
    await end(made);
    expect(await bench.until(client, leaseId, 'cleanup-blocked')).toMatchObject({
      failure: 'worktree-dirty',
    });
    const again = client.call('worktree.cleanup', { leaseId });
    expect(await failureOf(again)).toBe('worktree-dirty');
    expect(await detailsOf(again)).toEqual({ leaseId, changed: 0, untracked: 1, names: ['new.txt'] });
    const commit = bench.repository.commit('work', made.root);
    const lease = await client.call('worktree.cleanup', { leaseId });
    expect(lease).toMatchObject({ state: 'removed', outcome: 'removed', branchKept: true, head: commit });
    expect(bench.repository.git(['rev-parse', lease.branch])).toBe(commit);
    expect(await client.call('worktree.cleanup', { leaseId })).toEqual(lease);
    expect(onlyMain()).toBe(true);
  });

  it('leaves a recovery ref for commits that only it remembered, and says which', async () => {
    const lease = await allocate();
    const root = join(bench.trees, lease.id);
    const [one, two] = ['one', 'two'].map((name) => {
      const commit = bench.repository.commit(name, root);
      bench.repository.git(['reset', '--quiet', '--hard', 'HEAD~1'], root);
      return commit;
    });
    const removed = await client.call('worktree.cleanup', { leaseId: lease.id });
    expect(removed.recoveryRefs).toHaveLength(1);
    const kept = bench.repository.git(['rev-list', removed.recoveryRefs[0] ?? '']);
    expect(kept).toContain(one);
    expect(kept).toContain(two);
    expect(bench.repository.git(['fsck', '--no-reflogs', '--unreachable'])).toBe('');
  });

  it('is removed only when asked for, when its profile retains it', async () => {
    bench.profile('kept', { retention: 'retain' });
    const made = await spawn({ profileId: 'kept' }, { profileId: 'shell' });
    await end(made);
    await bench.until(client, made.worktree.leaseId, 'retained');
    await restart();
    await bench.until(client, made.worktree.leaseId, 'retained');
    expect(existsSync(made.root)).toBe(true);
    await client.call('worktree.cleanup', { leaseId: made.worktree.leaseId });
    expect(onlyMain()).toBe(true);
  });
});

describe('what others notice', () => {
  it('is nothing that a peer sees which does not know it', async () => {
    await allocate();
    const older = await TestClient.connect(daemon.socket, { capabilities: ['compatibility.metadata'] });
    const snapshot = await older.call('node.snapshot', {});
    expect(snapshot.worktrees ?? null).toBeNull();
    expect(snapshot.launchInventory.worktreeProfiles ?? null).toBeNull();
    expect(await failureOf(older.call('worktree.leases', {}))).toBe('unsupported-capability');
    older.close();
  });

  it('waits for what is left of removed sessions', async () => {
    const made = await spawn({}, { profileId: 'shell' });
    const { leaseId } = made.worktree;
    await end(made);
    await client.call('session.remove', made.receipt.session).catch(() => undefined);
    await bench.until(client, leaseId, 'removed');
    expect(existsSync(join(home.path, 'sessions', made.receipt.session.sessionId))).toBe(false);
  });
});

describe('set-up', () => {
  it('copies named ignored files without following links, runs its commands with the ports, and tells what it could not copy', async () => {
    const { repository } = bench;
    repository.write('.env.secret', 'KEY=1\n');
    repository.write('ignored/deep/file', 'two\n');
    writeFileSync(join(home.path, 'outside'), 'private');
    symlinkSync(join(home.path, 'outside'), join(repository.root, 'link.secret'));
    symlinkSync(home.path, join(repository.root, 'ignored', 'away'));
    bench.profile('full', {
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
    const lease = await allocate({ profileId: 'full' });
    const root = join(bench.trees, lease.id);
    expect(readFileSync(join(root, '.env.secret'), 'utf8')).toBe('KEY=1\n');
    expect(readFileSync(join(root, 'ignored/deep/file'), 'utf8')).toBe('two\n');
    expect(existsSync(join(root, 'link.secret'))).toBe(false);
    expect(existsSync(join(root, 'ignored/away'))).toBe(false);
    const { setup } = await client.call('worktree.evidence', { leaseId: lease.id });
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
    expect((await client.call('worktree.cleanup', { leaseId: lease.id })).state).toBe('removed');
  });

  it.each([
    ['fails', ['sh', '-c', 'echo to be seen; exit 3'], 'failed'],
    ['is not there', ['no-such-program'], 'not-started'],
    ['takes too long', ['sleep', '60'], 'timed-out'],
  ])(
    'that %s starts no session and leaves a person its output and choices; the key is free',
    async (_, command, outcome) => {
      bench.profile('broken', { setup: [{ command, timeoutMs: outcome === 'timed-out' ? 200 : 20_000 }] });
      const request = bench.launch({ profileId: 'broken' });
      const refusal = client.call('worktree.spawn', request);
      expect(await failureOf(refusal)).toBe('worktree-setup-failed');
      const leaseId = (await detailsOf(refusal))?.leaseId as LeaseId;
      expect((await client.call('session.list', { includeEnded: true })).sessions).toEqual([]);
      const evidence = await client.call('worktree.evidence', { leaseId });
      expect(evidence).toMatchObject({
        lease: { state: 'recovery-required', failure: 'worktree-setup-failed', setup: 'failed' },
        setup: { outcome, output: outcome === 'failed' ? 'to be seen\n' : '' },
        verdict: 'owned',
        choices: ['keep', 'retry-cleanup', 'adopt-as-ready'],
      });
      await restart();
      expect((await bench.lease(client, leaseId)).state).toBe('recovery-required');
      bench.profile('broken', {});
      expect((await client.call('worktree.spawn', request)).worktree?.leaseId).not.toBe(leaseId);
      const removed = await client.call('worktree.resolve', { leaseId, choice: 'retry-cleanup' });
      expect(removed.state).toBe('removed');
    },
  );

  it('is answered by a tear-down before the removal, which a failure of it stops with its output', async () => {
    const flag = join(home.path, 'torn-down');
    bench.profile('down', {
      teardown: [{ command: ['sh', '-c', `test -e "${flag}" || { echo not yet; exit 1; }`] }],
    });
    const { id: leaseId } = await allocate({ profileId: 'down' });
    expect(await failureOf(client.call('worktree.cleanup', { leaseId }))).toBe('worktree-teardown-failed');
    const { teardown, lease } = await client.call('worktree.evidence', { leaseId });
    expect(teardown).toMatchObject({ outcome: 'failed', exitCode: 1, output: 'not yet\n' });
    expect(lease).toMatchObject({ state: 'cleanup-blocked', failure: 'worktree-teardown-failed' });
    writeFileSync(flag, '');
    expect((await client.call('worktree.cleanup', { leaseId })).state).toBe('removed');
  });
});

describe('what a person decides', () => {
  it('keeps a worktree as an ordinary one, which takes launches like any other', async () => {
    const { id: leaseId } = await allocate();
    const kept = await client.call('worktree.resolve', { leaseId, choice: 'keep' });
    expect(kept).toMatchObject({ state: 'removed', outcome: 'kept', branchKept: true });
    const root = join(bench.trees, leaseId);
    await client.call('session.spawn', {
      directory: root,
      launch: { kind: 'command', command: ['sleep', '60'] },
    });
    expect(bench.repository.worktrees()).toContain(root);
  });

  it('heals a directory that was removed by hand, and touches no other entry', async () => {
    const one = await allocate();
    const two = await allocate();
    for (const { id } of [one, two]) rmSync(join(bench.trees, id), { recursive: true });
    const evidence = await client.call('worktree.evidence', { leaseId: one.id });
    expect(evidence).toMatchObject({ verdict: 'directory-gone', choices: ['retry-cleanup'] });
    await client.call('worktree.cleanup', { leaseId: one.id });
    expect(bench.repository.worktrees()).toEqual([bench.repository.root, join(bench.trees, two.id)]);
  });

  it('is offered only what the evidence allows: another branch, somebody else’s directory, nothing at all', async () => {
    const moved = await allocate();
    bench.repository.git(['checkout', '--quiet', '-b', 'elsewhere'], join(bench.trees, moved.id));
    expect(await failureOf(client.call('worktree.cleanup', { leaseId: moved.id }))).toBe(
      'worktree-not-owned',
    );
    expect(await client.call('worktree.evidence', { leaseId: moved.id })).toMatchObject({
      verdict: 'not-ours',
      choices: ['keep'],
      lease: { state: 'recovery-required', failure: 'worktree-not-owned' },
    });
    const refused = client.call('worktree.resolve', { leaseId: moved.id, choice: 'forget' });
    expect(await failureOf(refused)).toBe('worktree-choice-refused');

    const replaced = await allocate();
    bench.repository.git(['worktree', 'remove', join(bench.trees, replaced.id)]);
    mkdirSync(join(bench.trees, replaced.id));
    writeFileSync(join(bench.trees, replaced.id, 'canary'), 'mine');
    expect(await failureOf(client.call('worktree.cleanup', { leaseId: replaced.id }))).toBe(
      'worktree-not-owned',
    );
    expect((await client.call('worktree.evidence', { leaseId: replaced.id })).choices).toEqual([]);
    expect(existsSync(join(bench.trees, replaced.id, 'canary'))).toBe(true);

    rmSync(join(bench.trees, replaced.id), { recursive: true });
    expect((await client.call('worktree.evidence', { leaseId: replaced.id })).choices).toEqual([
      'retry-cleanup',
      'forget',
    ]);
    const forgotten = await client.call('worktree.resolve', { leaseId: replaced.id, choice: 'forget' });
    expect(forgotten).toMatchObject({ state: 'removed', outcome: 'forgotten' });
  });

  it('decides nothing while the directory that worktrees are made in is not there', async () => {
    const { id: leaseId } = await allocate();
    bench.repository.git(['worktree', 'list']);
    const aside = join(bench.repository.base, 'aside');
    const { renameSync } = await import('node:fs');
    renameSync(bench.trees, aside);
    const evidence = await client.call('worktree.evidence', { leaseId });
    expect(evidence).toMatchObject({ authority: 'lost', verdict: 'not-ours', choices: [] });
    await restart();
    expect(await bench.lease(client, leaseId)).toMatchObject({ state: 'recovery-required' });
    renameSync(aside, bench.trees);
    await restart();
    expect(await bench.until(client, leaseId, 'ready')).toMatchObject({ failure: null });
  });
});

describe('many at once', () => {
  it('get distinct branches, directories and ports', async () => {
    bench.profile('ports', { ports: { count: 7 } });
    const leases = await Promise.all(Array.from({ length: 20 }, () => allocate({ profileId: 'ports' })));
    const distinct = (values: readonly unknown[]) => new Set(values).size;
    expect(distinct(leases.map(({ branch }) => branch))).toBe(20);
    const ports = leases.flatMap(({ ports: block }) =>
      block === null ? [] : Array.from({ length: block.count }, (_, index) => block.base + index),
    );
    expect([ports.length, distinct(ports)]).toEqual([140, 140]);
    expect(bench.repository.worktrees()).toHaveLength(21);
  });
});
