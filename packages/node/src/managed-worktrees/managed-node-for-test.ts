// For tests only: a node with a repository to make worktrees of, anew for each test, and what its tests do again and again.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { FailureError, type SpawnReceipt, type WorktreeLease, type WorktreeReceipt } from '@roost/protocol';
import type { Daemon } from '../daemon.ts';
import { startTestNode, TestClient, TestHome } from '../node-for-test.ts';
import { ManagedBench } from './managed-for-test.ts';

export class ManagedNode {
  readonly home = new TestHome();
  readonly bench = new ManagedBench(this.home);
  #running: { readonly daemon: Daemon; readonly client: TestClient } | null = null;

  get daemon(): Daemon {
    return this.#now.daemon;
  }

  get client(): TestClient {
    return this.#now.client;
  }

  async start(): Promise<void> {
    const daemon = await startTestNode(this.home, { environment: this.bench.environment });
    this.#running = { daemon, client: await TestClient.connect(daemon.socket) };
    this.bench.nodeId = daemon.identity.nodeId;
  }

  async stop(): Promise<void> {
    this.client.close();
    await this.daemon.stop();
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async remove(): Promise<void> {
    await this.stop();
    await this.home.remove();
    this.bench.remove();
  }

  async spawn(
    worktree: Record<string, unknown> = {},
    spec: Record<string, unknown> = {},
  ): Promise<{ receipt: SpawnReceipt; worktree: WorktreeReceipt; root: string }> {
    const receipt = await this.client.call('worktree.spawn', this.bench.launch(worktree, spec));
    if (receipt.worktree === null) throw new Error('the receipt names its worktree');
    return { receipt, worktree: receipt.worktree, root: join(this.bench.trees, receipt.worktree.leaseId) };
  }

  async end({ receipt }: { receipt: SpawnReceipt }): Promise<void> {
    await this.client.call('session.stop', { ...receipt.session, force: true });
  }

  allocate(more: Record<string, unknown> = {}): Promise<WorktreeLease> {
    return this.client.call('worktree.allocate', this.bench.allocation(more));
  }

  /** No worktree is left, and no directory of one. */
  onlyMain(): boolean {
    return this.bench.repository.worktrees().length === 1 && readdirSync(this.bench.trees).length === 0;
  }

  get #now() {
    if (this.#running === null) throw new Error('the node is not started');
    return this.#running;
  }
}

/** The node of the test that runs. */
export function eachWithNode(): { readonly node: ManagedNode } {
  const held: { node: ManagedNode | null } = { node: null };
  beforeEach(async () => {
    held.node = new ManagedNode();
    await held.node.start();
    await held.node.bench.register(held.node.client);
  });
  afterEach(() => held.node?.remove());
  return {
    get node() {
      if (held.node === null) throw new Error('no test runs');
      return held.node;
    },
  };
}

export async function detailsOf(work: Promise<unknown>): Promise<Record<string, unknown> | undefined> {
  try {
    await work;
  } catch (error) {
    if (error instanceof FailureError) return error.failure.details;
    throw error;
  }
  throw new Error('it did not fail');
}
