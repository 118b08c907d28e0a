/** Reading repositories over the wire: who may, what is refused, and what a session changed. */
import { mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OFFERED_CAPABILITIES, SessionId, WorkspaceId } from '@roost/protocol';
import type { Daemon } from '../daemon.ts';
import { failureOf, startTestNode, TestClient, TestHome, waitFor } from '../node-for-test.ts';
import { Scratch } from './scratch-for-test.ts';

describe('reading a repository', () => {
  let home: TestHome;
  let daemon: Daemon;
  let client: TestClient;

  beforeAll(async () => {
    home = new TestHome();
    daemon = await startTestNode(home);
    client = await TestClient.connect(daemon.socket);
  });
  afterAll(async () => {
    client.close();
    await daemon.stop();
    await home.remove();
  });

  const register = async (root: string): Promise<WorkspaceId> =>
    (await client.call('workspace.register', { root })).id;
  const shell = (directory: string, script: string) =>
    client.call('session.spawn', {
      directory,
      transport: 'pipe',
      launch: { kind: 'command', command: ['/bin/sh', '-c', script] },
    });

  it('is for every observer what the status is, and for operators the rest', async () => {
    const scratch = new Scratch();
    const workspaceId = await register(scratch.repository('r', { a: 'a' }));
    scratch.write(scratch.at('r'), { a: 'b' });
    const observer = await TestClient.connect(daemon.socket, { role: 'observer' });
    const { status } = await observer.call('git.status', { workspaceId });
    expect(status).toMatchObject({ kind: 'repository', branch: 'main', entries: [{ path: 'a' }] });
    const refused = [
      observer.call('git.history', { workspaceId }),
      observer.call('git.diff', { workspaceId, what: { kind: 'working' } }),
      observer.call('session.diff', { sessionId: SessionId.parse('0'.repeat(16)) }),
    ];
    for (const one of refused) expect(await failureOf(one)).toBe('observer-read-only');
    observer.close();
    expect((await client.call('git.history', { workspaceId })).commits).toMatchObject([
      { subject: 'a commit' },
    ]);
    const diff = await client.call('git.diff', { workspaceId, what: { kind: 'working' } });
    expect(diff.files).toMatchObject([{ path: 'a' }]);
    const plain = await register(realpathSync(scratch.at('home')));
    expect((await client.call('git.status', { workspaceId: plain })).status).toEqual({
      kind: 'not-a-repository',
    });
    expect(await failureOf(client.call('git.history', { workspaceId: plain }))).toBe('not-git-repository');
  });

  it('is refused for an unknown workspace, for one whose directory is another now, and out of bounds', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a' });
    const workspaceId = await register(root);
    const unknown = WorkspaceId.parse('nobody');
    const what = { kind: 'working' } as const;
    expect(await failureOf(client.call('git.status', { workspaceId: unknown }))).toBe('unknown-workspace');
    for (const bad of [{ limit: 0 }, { limit: 51 }, { path: '../x' }, { path: '/x' }, { cursor: 'HEAD:1' }]) {
      const params = { workspaceId, ...bad } as never;
      expect(await failureOf(client.call('git.history', params))).toBe('invalid-request');
    }
    const commit = { kind: 'commit', commit: '--output=/tmp/x' } as const;
    expect(await failureOf(client.call('git.diff', { workspaceId, what: commit }))).toBe('invalid-request');
    renameSync(root, scratch.at('moved'));
    expect(await failureOf(client.call('git.diff', { workspaceId, what }))).toBe('invalid-workspace-root');
    symlinkSync(scratch.at('moved'), root);
    expect(await failureOf(client.call('git.status', { workspaceId }))).toBe('invalid-workspace-root');
  });

  it('is refused at once when as many read as may', async () => {
    const scratch = new Scratch();
    const workspaceId = await register(scratch.repository('r', { a: 'a' }));
    const answers = await Promise.allSettled(
      Array.from({ length: 12 }, () => client.call('git.status', { workspaceId })),
    );
    const refused = answers.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    expect(refused.length).toBe(8);
    for (const one of refused) expect(one).toMatchObject({ failure: { code: 'backend-busy' } });
    await client.call('git.status', { workspaceId });
  });

  it('of a session is what changed since it was started, committed or not, and nothing that was there before', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a\n', b: 'b\n' });
    const before = scratch.commit(root, { b: 'before\n' });
    const go = scratch.at('go');
    const commit = 'git -c user.name=n -c user.email=e commit -qam own';
    const session = await shell(
      root,
      `until [ -e '${go}' ]; do sleep 0.05; done; echo c > a; ${commit}; echo n > new`,
    );
    expect(session.baseCommit).toBe(before);
    expect(await client.call('session.diff', { sessionId: session.id })).toMatchObject({
      files: [],
      directory: root,
    });
    writeFileSync(go, '');
    await waitFor(
      async () => (await client.call('session.resolve', { selector: session.id })).status === 'exited',
      'its end',
    );
    const diff = await client.call('session.diff', { sessionId: session.id });
    expect(diff).toMatchObject({
      base: before,
      files: [
        { path: 'a', status: 'modified' },
        { path: 'new', status: 'added' },
      ],
    });
    expect((await client.call('session.diff', { sessionId: session.id, path: 'new' })).files.length).toBe(1);
    const later = await shell(root, 'true');
    expect(later.baseCommit).not.toBe(before);
    const { sessions } = await client.call('session.list', { includeEnded: true });
    expect(sessions.find(({ id }) => id === session.id)?.baseCommit).toBe(before);
  });

  it('of a session in a repository inside of its workspace is told from that repository', async () => {
    const scratch = new Scratch();
    mkdirSync(scratch.at('w'));
    await register(scratch.at('w'));
    const inner = scratch.repository('w/inner', { a: 'a' });
    mkdirSync(join(inner, 'sub'));
    const session = await shell(join(inner, 'sub'), 'true');
    scratch.write(inner, { 'sub/new': 'n' });
    expect(await client.call('session.diff', { sessionId: session.id })).toMatchObject({
      directory: inner,
      files: [{ path: 'sub/new' }],
    });
    rmSync(inner, { recursive: true });
    expect(await failureOf(client.call('session.diff', { sessionId: session.id }))).toBe('invalid-directory');
  });

  it('of a session without a known start is refused as such', async () => {
    const scratch = new Scratch();
    mkdirSync(scratch.at('plain'));
    const session = await shell(scratch.at('plain'), 'true');
    expect(session.baseCommit).toBe(null);
    expect(await failureOf(client.call('session.diff', { sessionId: session.id }))).toBe(
      'session-base-unknown',
    );
  });

  it('is not shown to a peer that does not know of it', async () => {
    const scratch = new Scratch();
    const root = scratch.repository('r', { a: 'a' });
    await shell(root, 'true');
    const capabilities = OFFERED_CAPABILITIES.filter((one) => one !== 'git-read-v1');
    const peer = await TestClient.connect(daemon.socket, { capabilities });
    const { sessions } = await peer.call('session.list', { includeEnded: true });
    expect(sessions.some(({ directory }) => directory === root)).toBe(true);
    expect(sessions.every(({ baseCommit }) => baseCommit === null)).toBe(true);
    const workspaceId = await register(scratch.repository('other'));
    expect(await failureOf(peer.call('git.status', { workspaceId }))).toBe('unsupported-capability');
    peer.close();
  });
});
