import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WorkspaceId } from '@roost/protocol';
import type { Daemon } from '../daemon.ts';
import { failureOf, startTestNode, TestClient, TestHome } from '../node-for-test.ts';
import { deepestRootAround } from './locate.ts';
import { makeWorkspaceId } from './workspace-id.ts';

describe('the deepest root around a directory', () => {
  it.each([
    ['/a/b/c', ['/a', '/a/b', '/x'], '/a/b'],
    ['/a/b', ['/a/b'], '/a/b'],
    ['/a/bc', ['/a/b'], null],
    ['/a', ['/'], '/'],
    ['/a', [], null],
  ])('of %s among %j is %s', (directory, roots, expected) => {
    expect(deepestRootAround(directory, roots)).toBe(expected);
  });
});

describe('making a workspace id', () => {
  it.each([
    ['/home/me/My Project', [], 'my-project'],
    ['/', [], 'workspace'],
    ['/x/.hidden', [], 'hidden'],
    ['/x/web', ['web'], 'web-2'],
  ])('of %s with %j taken: %s', (root, taken, expected) => {
    expect(makeWorkspaceId(root, (id) => taken.includes(id as never))).toBe(expected);
  });
});

describe('workspaces', () => {
  let home: TestHome;
  let daemon: Daemon;
  let client: TestClient;
  let project: string;

  beforeEach(async () => {
    home = new TestHome();
    daemon = await startTestNode(home);
    client = await TestClient.connect(daemon.socket);
    project = join(realpathSync(home.path), 'project');
    mkdirSync(join(project, 'src'), { recursive: true });
  });
  afterEach(async () => {
    client.close();
    await daemon.stop();
    await home.remove();
  });

  it('are registered by their canonical path, listed and forgotten', async () => {
    symlinkSync(project, join(home.path, 'link'));
    const made = await client.call('workspace.register', { root: join(home.path, 'link') });
    expect(made).toMatchObject({ id: 'project', root: project, kind: 'plain', liveSessions: 0 });
    expect(await client.call('workspace.list', {})).toEqual({ workspaces: [made] });
    await client.call('workspace.unregister', { workspaceId: made.id });
    expect(await client.call('workspace.list', {})).toEqual({ workspaces: [] });
    expect(await failureOf(client.call('workspace.unregister', { workspaceId: made.id }))).toBe(
      'unknown-workspace',
    );
  });

  it('are refused twice, and where there is no directory', async () => {
    await client.call('workspace.register', { root: project });
    writeFileSync(join(project, 'file'), '');
    const register = (root: string, workspaceId?: string) =>
      failureOf(
        client.call('workspace.register', {
          root,
          ...(workspaceId === undefined ? {} : { workspaceId: WorkspaceId.parse(workspaceId) }),
        }),
      );
    expect(await register(project)).toBe('duplicate-workspace-root');
    expect(await register(join(project, 'src'), 'project')).toBe('duplicate-workspace-id');
    expect(await register(join(project, 'file'))).toBe('invalid-workspace-root');
    expect(await register(join(project, 'missing'))).toBe('invalid-workspace-root');
    expect(await register('relative')).toBe('invalid-request');
  });

  it('are refused by their id before their directory, when both are taken', async () => {
    const { id } = await client.call('workspace.register', { root: project });
    expect(await failureOf(client.call('workspace.register', { root: project, workspaceId: id }))).toBe(
      'duplicate-workspace-id',
    );
  });

  it.each([
    ['a line break', '/tmp/project\n'],
    ['an escape', '/tmp/\u001b[2J'],
    ['more bytes than a path may have', `/${'x'.repeat(32_768)}`],
    ['what is no text', { bytes: [0xff, 0xfe] }],
  ])('with %s in their root are refused before anybody looks there', async (_, root) => {
    const before = await client.call('node.status', {});
    const registering = client.call('workspace.register', { root: root as string });
    expect(await failureOf(registering)).toBe('invalid-request');
    const after = await client.call('node.status', {});
    expect(after.lastEventSequence).toBe(before.lastEventSequence);
    expect(after.workspaces).toBe(0);
  });

  it('tell each change in order, and the last one may go too', async () => {
    const { lastEventSequence: after } = await client.call('node.status', {});
    const one = await client.call('workspace.register', { root: project });
    const two = await client.call('workspace.register', { root: join(project, 'src') });
    await client.call('workspace.unregister', { workspaceId: two.id });
    await client.call('workspace.unregister', { workspaceId: one.id });
    expect(await client.call('workspace.list', {})).toEqual({ workspaces: [] });
    const { events } = await client.call('events.read', { after });
    expect(events.map(({ sequence, body }) => [sequence - after, body])).toEqual([
      [1, { kind: 'workspace-registered', workspace: one }],
      [2, { kind: 'workspace-registered', workspace: two }],
      [3, { kind: 'workspace-unregistered', workspaceId: two.id }],
      [4, { kind: 'workspace-unregistered', workspaceId: one.id }],
    ]);
  });

  it('are found around the directory of a session, and made of its git tree when there is none', async () => {
    mkdirSync(join(project, '.git'));
    const spawn = (directory: string) =>
      client.call('session.spawn', { directory, launch: { kind: 'command', command: ['sleep', '60'] } });
    const session = await spawn(join(project, 'src'));
    const [made] = (await client.call('workspace.list', {})).workspaces;
    expect(made).toMatchObject({ id: session.workspaceId, root: project, kind: 'git', liveSessions: 1 });
    const src = await client.call('workspace.register', { root: join(project, 'src') });
    expect((await spawn(join(project, 'src'))).workspaceId).toBe(src.id);
    expect((await spawn(project)).workspaceId).toBe(session.workspaceId);
    expect(await failureOf(client.call('workspace.unregister', { workspaceId: src.id }))).toBe(
      'workspace-busy',
    );
  });
});
