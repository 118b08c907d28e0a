import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FailureError, OFFERED_CAPABILITIES, type Capability, type Failure } from '@roost/protocol';
import type { Daemon } from '../daemon.ts';
import { failureOf, startTestNode, TestClient, TestHome } from '../node-for-test.ts';
import { revisionOf } from './content.ts';

const OLD = revisionOf(Buffer.from('old\n'));
const NEW = revisionOf(Buffer.from('new\n'));
const NOTHING = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const workspaceId = 'work';

async function refusalOf(work: Promise<unknown>): Promise<Failure> {
  try {
    await work;
  } catch (error) {
    if (error instanceof FailureError) return error.failure;
    throw error;
  }
  throw new Error('it was not refused');
}

describe('files over the wire', () => {
  let home: TestHome;
  let daemon: Daemon;
  let client: TestClient;
  let observer: TestClient;
  let root: string;

  beforeAll(async () => {
    home = new TestHome();
    daemon = await startTestNode(home);
    client = await TestClient.connect(daemon.socket);
    observer = await TestClient.connect(daemon.socket, { role: 'observer' });
    root = join(realpathSync(home.path), 'work');
    mkdirSync(join(root, 'src'), { recursive: true });
    await client.call('workspace.register', { root, workspaceId });
  });
  beforeEach(() => writeFileSync(join(root, 'src/lib.rs'), 'old\n'));
  afterAll(async () => {
    client.close();
    observer.close();
    await daemon.stop();
    await home.remove();
  });

  const content = () => readFileSync(join(root, 'src/lib.rs'), 'utf8');

  it('are read by observers, and only in registered workspaces', async () => {
    expect(await observer.call('workspace.readFile', { workspaceId, path: 'src/lib.rs' })).toEqual({
      workspaceId,
      path: 'src/lib.rs',
      content: { kind: 'text', text: 'old\n', byteLength: 4, revision: OLD },
    });
    const elsewhere = observer.call('workspace.readFile', { workspaceId: 'other', path: 'src/lib.rs' });
    expect(await refusalOf(elsewhere)).toMatchObject({
      code: 'unknown-workspace',
      details: { workspaceId: 'other' },
    });
  });

  it('are written with the lease and the revision that was read, and with no other', async () => {
    const params = { workspaceId, path: 'src/lib.rs', expectedRevision: OLD, text: 'new\n' };
    expect(await failureOf(observer.call('workspace.writeFile', params))).toBe('observer-read-only');
    client.lease = null;
    expect(await failureOf(client.call('workspace.writeFile', params))).toBe('controller-required');
    client.lease = 'brief';
    expect(content()).toBe('old\n');
    expect(await client.call('workspace.writeFile', params)).toEqual({
      workspaceId,
      path: 'src/lib.rs',
      byteLength: 4,
      revision: NEW,
    });
    expect(content()).toBe('new\n');
    expect(await refusalOf(client.call('workspace.writeFile', { ...params, text: 'newer\n' }))).toEqual({
      code: 'repository-file-revision-conflict',
      message: expect.any(String),
      details: { workspaceId, path: 'src/lib.rs', revision: NEW },
    });
    expect(content()).toBe('new\n');
  });

  it('are made with the lease, never in place of something, in a directory that is there', async () => {
    const make = { workspaceId, path: 'src/new.rs' };
    expect(await failureOf(observer.call('workspace.createFile', make))).toBe('observer-read-only');
    client.lease = null;
    expect(await failureOf(client.call('workspace.createFile', make))).toBe('controller-required');
    expect(await failureOf(client.call('workspace.createDirectory', make))).toBe('controller-required');
    client.lease = 'brief';
    expect(existsSync(join(root, 'src/new.rs'))).toBe(false);
    expect(await client.call('workspace.createFile', make)).toEqual({
      ...make,
      byteLength: 0,
      revision: NOTHING,
    });
    expect(readFileSync(join(root, 'src/new.rs'))).toHaveLength(0);
    expect(await failureOf(client.call('workspace.createFile', make))).toBe(
      'repository-entry-already-exists',
    );
    const directory = { workspaceId, path: 'src/nested' };
    expect(await client.call('workspace.createDirectory', directory)).toEqual(directory);
    for (const name of ['workspace.createFile', 'workspace.createDirectory'] as const) {
      const codeOf = (path: string) => failureOf(client.call(name, { workspaceId, path }));
      expect(await codeOf('src/nested')).toBe('repository-entry-already-exists');
      expect(await codeOf('missing/new.rs')).toBe('repository-parent-not-found');
      expect(await codeOf('src/new.rs/child')).toBe('repository-parent-not-directory');
    }
  });

  it('that cannot be read or written are refused with the code of why', async () => {
    symlinkSync('lib.rs', join(root, 'src/link'));
    writeFileSync(join(root, 'binary'), 'a\0');
    spawnSync('mkfifo', [join(root, 'pipe')]);
    const read = (path: string) => failureOf(client.call('workspace.readFile', { workspaceId, path }));
    const write = (path: string) =>
      failureOf(client.call('workspace.writeFile', { workspaceId, path, expectedRevision: OLD, text: 'x' }));
    for (const codeOf of [read, write]) {
      expect(await codeOf('none')).toBe('repository-file-not-found');
      expect(await codeOf('none/none')).toBe('repository-file-not-found');
      expect(await codeOf('src')).toBe('repository-file-not-regular');
      expect(await codeOf('src/lib.rs/x')).toBe('repository-file-not-regular');
      expect(await codeOf('pipe')).toBe('repository-file-not-regular');
      expect(await codeOf('src/link')).toBe('repository-path-unsafe');
      expect(await codeOf('n'.repeat(256))).toBe('invalid-request');
    }
    expect(await write('binary')).toBe('repository-file-not-text');
    const binary = await client.call('workspace.readFile', { workspaceId, path: 'binary' });
    expect(binary.content).toEqual({ kind: 'binary', byteLength: 2 });
  });

  it.each([
    '',
    '/etc/passwd',
    '../x',
    'a/../../x',
    '.',
    './x',
    'a//b',
    'a/',
    'a\0b',
    'x'.repeat(1025),
    '\ud800',
  ])('are not looked for by a path like %j', async (path) => {
    const asked = [
      client.call('workspace.readFile', { workspaceId, path }),
      client.call('workspace.writeFile', { workspaceId, path, expectedRevision: OLD, text: 'x' }),
      client.call('workspace.createFile', { workspaceId, path }),
      client.call('workspace.createDirectory', { workspaceId, path }),
    ];
    for (const one of asked) expect(await failureOf(one)).toBe('invalid-request');
  });

  it.each([
    ['NUL', 'a\0'],
    ['half of a pair', '\ud800'],
  ])('take no text with %s', async (_what, text) => {
    const params = { workspaceId, path: 'src/lib.rs', expectedRevision: OLD, text };
    expect(await failureOf(client.call('workspace.writeFile', params))).toBe('invalid-request');
    expect(content()).toBe('old\n');
  });

  it("of git's own are read and never written or made", async () => {
    mkdirSync(join(root, '.git/hooks'), { recursive: true });
    writeFileSync(join(root, '.git/config'), 'old\n');
    const read = await client.call('workspace.readFile', { workspaceId, path: '.git/config' });
    expect(read.content).toMatchObject({ revision: OLD });
    const asked = [
      client.call('workspace.writeFile', {
        workspaceId,
        path: '.git/config',
        expectedRevision: OLD,
        text: 'x',
      }),
      client.call('workspace.createFile', { workspaceId, path: '.git/hooks/post-checkout' }),
      client.call('workspace.createDirectory', { workspaceId, path: 'src/.GIT' }),
    ];
    for (const one of asked) expect(await failureOf(one)).toBe('repository-path-unsafe');
    expect(readFileSync(join(root, '.git/config'), 'utf8')).toBe('old\n');
    expect(existsSync(join(root, '.git/hooks/post-checkout'))).toBe(false);
  });

  it('say nothing of the machine in a refusal', async () => {
    const asked = client.call('workspace.readFile', { workspaceId, path: 'src/none' });
    const failure = await refusalOf(asked);
    expect(failure.details).toEqual({ workspaceId, path: 'src/none' });
    expect(JSON.stringify(failure)).not.toContain(root);
  });

  it.each([
    ['workspace-file-read-v1', 'workspace.readFile'],
    ['workspace-file-write-v1', 'workspace.writeFile'],
    ['workspace-entry-create-v1', 'workspace.createFile'],
    ['workspace-entry-create-v1', 'workspace.createDirectory'],
    ['repository-path-v1', 'workspace.readFile'],
    ['repository-path-v1', 'workspace.createDirectory'],
  ] as [Capability, 'workspace.readFile'][])('need %s for %s', async (missing, name) => {
    const peer = await TestClient.connect(daemon.socket, {
      capabilities: OFFERED_CAPABILITIES.filter((one) => one !== missing),
    });
    expect(await failureOf(peer.call(name, { workspaceId, path: 'src/peer' }))).toBe(
      'unsupported-capability',
    );
    expect(existsSync(join(root, 'src/peer'))).toBe(false);
    peer.close();
  });

  it('of a workspace whose root became a link are refused', async () => {
    const moved = join(home.path, 'moving');
    mkdirSync(moved);
    await client.call('workspace.register', { root: moved, workspaceId: 'moving' });
    renameSync(moved, `${moved}-away`);
    const read = () => failureOf(client.call('workspace.readFile', { workspaceId: 'moving', path: 'x' }));
    expect(await read()).toBe('invalid-workspace-root');
    symlinkSync(root, moved);
    expect(await read()).toBe('repository-path-unsafe');
  });

  // Every thread that the runtime has for files waits for a pipe here, as it would for a disk that is gone.
  it(
    'on a file system that hangs are answered in time, and nothing happens later',
    { timeout: 30_000 },
    async () => {
      const threads = Number(process.env.UV_THREADPOOL_SIZE ?? 4);
      const pipes = Array.from({ length: threads }, (_, index) => join(home.path, `hang-${index}`));
      spawnSync('mkfifo', pipes);
      const hanging = pipes.map((pipe) => open(pipe, 'r'));
      const began = performance.now();
      const asked = [
        client.call('workspace.readFile', { workspaceId, path: 'src/lib.rs' }),
        client.call('workspace.writeFile', {
          workspaceId,
          path: 'src/lib.rs',
          expectedRevision: OLD,
          text: 'late\n',
        }),
        client.call('workspace.createFile', { workspaceId, path: 'src/late' }),
        client.call('workspace.createDirectory', { workspaceId, path: 'src/late-directory' }),
      ].map(failureOf);
      let timedOut = 0;
      for (const one of asked) void one.then(() => (timedOut += 1));
      expect(await failureOf(client.call('workspace.readFile', { workspaceId, path: 'src/lib.rs' }))).toBe(
        'backend-busy',
      );
      expect(timedOut).toBe(0);
      expect(await asked[0]).toBe('repository-file-read-timed-out');
      // Whoever has given up waiting has not given its slot back.
      expect(await failureOf(client.call('workspace.readFile', { workspaceId, path: 'src/lib.rs' }))).toBe(
        'backend-busy',
      );
      expect(await Promise.all(asked.slice(1))).toEqual([
        'repository-file-write-timed-out',
        'repository-entry-create-timed-out',
        'repository-entry-create-timed-out',
      ]);
      expect(performance.now() - began).toBeLessThan(8_000);
      for (const pipe of pipes) closeSync(openSync(pipe, 'w'));
      for (const one of hanging) await (await one).close();
      const busy = async () =>
        (await client.call('workspace.readFile', { workspaceId, path: 'src/lib.rs' }).then(
          () => 'done',
          () => 'busy',
        )) === 'busy';
      while (await busy()) await new Promise((resolve) => setTimeout(resolve, 20));
      expect(content()).toBe('old\n');
      expect(existsSync(join(root, 'src/late'))).toBe(false);
      expect(existsSync(join(root, 'src/late-directory'))).toBe(false);
    },
  );

  it('are not changed for a workspace that was forgotten while the change waited', async () => {
    const root = join(home.path, 'forgotten');
    mkdirSync(root);
    await client.call('workspace.register', { root, workspaceId: 'forgotten' });
    const making = failureOf(client.call('workspace.createFile', { workspaceId: 'forgotten', path: 'late' }));
    const forgetting = client.call('workspace.unregister', { workspaceId: 'forgotten' });
    await forgetting;
    const isThere = existsSync(join(root, 'late'));
    expect(await making.catch(() => 'done')).toBe(isThere ? 'done' : 'unknown-workspace');
    expect(existsSync(join(root, 'late'))).toBe(isThere);
  });
});
