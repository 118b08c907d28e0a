/**
 * The node kills itself at each named moment of making a managed worktree, launching into it, and taking it away. The next start has to
 * leave no directory, no row and no key behind that does not fit the rest, and nothing of the person's own may have changed.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FailureError, type ParamsInput, type Result } from '@roost/protocol';
import { ManagedBench } from '../../packages/node/src/managed-worktrees/managed-for-test.ts';
import {
  startNodeProcess,
  startNodeThatEndsAt,
  TestClient,
  TestHome,
  waitFor,
  type NodeProcess,
} from '../../packages/node/src/node-for-test.ts';
import { hashTree } from '../../packages/node/src/worktrees/repository-for-test.ts';
import { attackCount } from '../support/counts.ts';

const MAKING = ['lease-reserved', 'worktree-added', 'files-copied', 'set-up-done', 'lease-ready'] as const;
const REMOVING = [
  'cleanup-begun',
  'torn-down',
  'commits-kept',
  'worktree-removed',
  'branch-settled',
  'lease-removed',
] as const;
type Work = readonly ['allocate' | 'spawn' | 'cleanup', string];
const WORK: readonly Work[] = [
  ...MAKING.map((point): Work => ['allocate', point]),
  ...[...MAKING, 'session-started'].map((point): Work => ['spawn', point]),
  ...REMOVING.map((point): Work => ['cleanup', point]),
];
const ROUNDS = attackCount(100, WORK.length);

it(`a node that dies at any moment of a managed worktree leaves nothing that does not heal (${ROUNDS} times)`, async () => {
  const home = new TestHome();
  const bench = new ManagedBench(home);
  const { repository } = bench;
  bench.profile('plain', {
    setup: [{ command: ['sh', '-c', 'mkdir -p ignored && echo made > ignored/made'] }],
    teardown: [{ command: ['sh', '-c', 'rm -rf ignored'] }],
    copy: ['own.secret'],
    ports: { count: 2 },
  });
  repository.write('own.secret', 'KEY=1\n');
  repository.git(['worktree', 'add', '--quiet', '-b', 'sibling', repository.place('sibling')]);
  repository.write('mine.txt', 'not committed\n', repository.place('sibling'));
  repository.write('mine.txt', 'not committed\n');
  const own = () => ({
    main: hashTree(repository.root, ['.git']),
    sibling: hashTree(repository.place('sibling')),
    main_branch: repository.git(['rev-parse', 'main', 'sibling']),
    status: repository.git(['status', '--porcelain']),
  });
  const before = own();
  const kept: string[] = [];
  let running: NodeProcess | null = null;
  const socket = join(home.path, 'node.sock');

  const begin = async (starting: Promise<NodeProcess>): Promise<TestClient> => {
    running = await starting;
    const client = await TestClient.connect(socket);
    bench.nodeId = (await client.call('node.status', {})).nodeId;
    return client;
  };
  const end = async (client: TestClient) => {
    client.close();
    running?.child.kill('SIGTERM');
    await running?.exit;
  };
  const lost = async (work: Promise<unknown>) => {
    const code = await work.then(
      () => 'answered',
      (error: unknown) => (error instanceof FailureError ? error.failure.code : String(error)),
    );
    expect(['connection-lost', 'answered']).toContain(code);
    await running?.exit;
  };

  try {
    let client = await begin(startNodeProcess(home.path));
    await bench.register(client);
    for (let round = 0; round < ROUNDS; round += 1) {
      const [act, point] = WORK[round % WORK.length] ?? WORK[0]!;
      const what = `round ${round}: ${act} at ${point}`;
      const allocation = bench.allocation({ name: `round-${round}` });
      const launch = bench.launch({ name: `round-${round}` }, { profileId: 'shell' });
      let commit: string | null = null;

      if (act === 'cleanup') {
        const { id } = await client.call('worktree.allocate', allocation);
        // Its own commit, and one that only its reflog remembers.
        const root = join(bench.trees, id);
        commit = repository.commit(`work ${round}`, root);
        kept.push(repository.commit(`dropped ${round}`, root), commit);
        repository.git(['reset', '--quiet', '--hard', 'HEAD~1'], root);
      }
      await end(client);
      const victim = await begin(startNodeThatEndsAt(home.path, point));
      const [lease] = (await victim.call('worktree.leases', {})).leases;
      if (act === 'allocate') await lost(victim.call('worktree.allocate', allocation));
      else if (act === 'spawn') await lost(victim.call('worktree.spawn', launch));
      else await lost(victim.call('worktree.cleanup', { leaseId: lease!.id }));
      victim.close();

      client = await begin(startNodeProcess(home.path));
      if (act !== 'cleanup') await finish(client, act === 'allocate' ? { allocation } : { launch }, what);
      else if (point !== 'lease-removed') await client.call('worktree.cleanup', { leaseId: lease!.id });
      await waitFor(
        async () => (await client.call('worktree.leases', {})).leases.length === 0,
        `${what}: no lease is left`,
        30_000,
      );
      expect(readdirSync(bench.trees), what).toEqual([]);
      expect(repository.worktrees(), what).toHaveLength(2);
      const { workspaces } = await client.call('workspace.list', {});
      expect(
        workspaces.map(({ id }) => id),
        what,
      ).toEqual(['repo']);
      expect(own(), what).toEqual(before);
      const lasting = repository.git(['rev-list', '--all']);
      for (const one of kept) expect(lasting, what).toContain(one);
      if (act !== 'cleanup')
        expect(repository.try(['rev-parse', '--verify', `roost/round-${round}`]), what).not.toBe(0);
    }
    await end(client);
    expect(existsSync(join(repository.root, 'mine.txt'))).toBe(true);
  } finally {
    (running as NodeProcess | null)?.child.kill('SIGKILL');
    await home.remove();
    bench.remove();
  }

  /** The key answers, with one worktree; what it made is taken away again. */
  async function finish(
    client: TestClient,
    asked: { allocation: ParamsInput<'worktree.allocate'> } | { launch: ParamsInput<'worktree.spawn'> },
    what: string,
  ): Promise<void> {
    if ('allocation' in asked) {
      const lease = await client.call('worktree.allocate', asked.allocation);
      expect([lease.state, lease.setup], what).toEqual(['ready', 'done']);
      expect(readdirSync(bench.trees), what).toEqual([lease.id]);
      await client.call('worktree.cleanup', { leaseId: lease.id });
      return;
    }
    const receipt = await client.call('worktree.spawn', asked.launch);
    const again: Result<'worktree.spawn'> = await client.call('worktree.spawn', asked.launch);
    expect(again, what).toEqual(receipt);
    expect(readdirSync(bench.trees), what).toEqual([receipt.worktree?.leaseId]);
    await client.call('session.stop', { ...receipt.session, force: true });
  }
}, 3_600_000);
