// For tests only: a repository with a commit, a directory for worktrees, profiles for both, and programs that stand in for agents.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LeaseState, ParamsInput, Result, WorktreeLease } from '@roost/protocol';
import type { TestClient, TestHome } from '../node-for-test.ts';
import { waitFor } from '../node-for-test.ts';
import { TestRepository } from '../worktrees/repository-for-test.ts';

/** Stands in for an agent: tells its words and its worktree, then waits. */
const CLAUDE = `#!/bin/sh
[ "$1" = --version ] && exec echo 2.1.197
printf '%s|%s|%s|%s|%s|%s\\n' "$ROOST_SESSION_ID" "$PWD" "$ROOST_WORKTREE" "$ROOST_PORT_BASE" "$ROOST_PORT_COUNT" "$*" >> "$HOME/started"
exec cat
`;

export class ManagedBench {
  readonly repository = new TestRepository();
  /** Where worktrees are made. */
  readonly trees: string;
  /** Of the node that launches are meant for. */
  nodeId = '';
  readonly #home: TestHome;
  #keys = 0;

  constructor(home: TestHome) {
    this.#home = home;
    this.trees = join(this.repository.base, 'trees');
    mkdirSync(this.trees);
    this.profile('plain', {});
    this.#write('spawn', 'agent', { provider: 'claude' });
    this.#write('spawn', 'shell', { provider: 'shell' });
    const programs = join(home.path, 'bin');
    mkdirSync(programs);
    writeFileSync(join(programs, 'claude'), CLAUDE);
    chmodSync(join(programs, 'claude'), 0o755);
  }

  get environment(): Record<string, string | undefined> {
    return {
      PATH: `${join(this.#home.path, 'bin')}:${process.env.PATH ?? ''}`,
      HOME: this.#home.path,
      SHELL: '/bin/sh',
    };
  }

  /** Its revision is r1 unless told otherwise. */
  profile(id: string, profile: Record<string, unknown>): void {
    this.#write('worktree', id, { sourceWorkspace: 'repo', targetRoot: this.trees, ...profile });
  }

  register(client: TestClient): Promise<Result<'workspace.register'>> {
    return client.call('workspace.register', { root: this.repository.root });
  }

  key(): string {
    this.#keys += 1;
    return `key-${this.#keys}`;
  }

  allocation(more: Record<string, unknown> = {}): ParamsInput<'worktree.allocate'> {
    return { profileId: 'plain', expectedRevision: 'r1', idempotencyKey: this.key(), ...more };
  }

  launch(
    worktree: Record<string, unknown> = {},
    spec: Record<string, unknown> = {},
  ): ParamsInput<'worktree.spawn'> {
    return {
      spec: {
        target: { nodeId: this.nodeId, workspaceId: 'repo' },
        profileId: 'agent',
        expectedRevision: 'r1',
        deadlineMs: 20_000,
        idempotencyKey: this.key(),
        ...spec,
      },
      worktree: { kind: 'new', profileId: 'plain', expectedRevision: 'r1', ...worktree },
    };
  }

  async lease(client: TestClient, leaseId: string): Promise<WorktreeLease> {
    const { leases } = await client.call('worktree.leases', { includeRemoved: true });
    const found = leases.find(({ id }) => id === leaseId);
    if (found === undefined) throw new Error(`no lease ${leaseId}`);
    return found;
  }

  async until(client: TestClient, leaseId: string, state: LeaseState): Promise<WorktreeLease> {
    let lease = await this.lease(client, leaseId);
    await waitFor(
      async () => {
        lease = await this.lease(client, leaseId);
        return lease.state === state;
      },
      `${leaseId} to be ${state}`,
      20_000,
    );
    return lease;
  }

  remove(): void {
    this.repository.remove();
  }

  #write(kind: 'spawn' | 'worktree', id: string, profile: object): void {
    const directory = join(this.#home.path, 'profiles', kind);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `${id}.json`), JSON.stringify({ revision: 'r1', ...profile }));
  }
}
