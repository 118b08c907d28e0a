import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  FAILURE_SENTENCES,
  FailureError,
  OFFERED_CAPABILITIES,
  WorkspaceId,
  type Failure,
  type FailureCode,
  type ParamsInput,
} from '@roost/protocol';
import type { Daemon } from '../daemon.ts';
import type { FaultHook } from '../fault-points.ts';
import { startTestNode, TestClient, TestHome, waitFor } from '../node-for-test.ts';
import { hashTree, TestRepository } from './repository-for-test.ts';

let home: TestHome;
let repository: TestRepository;
let daemon: Daemon;
let client: TestClient;
const source = WorkspaceId.parse('source');

beforeEach(async () => {
  home = new TestHome();
  repository = new TestRepository();
  await start();
  await client.call('workspace.register', { root: repository.root, workspaceId: source });
});
afterEach(async () => {
  client.close();
  await daemon.stop();
  await home.remove();
  repository.remove();
});

async function start(faults: FaultHook = () => undefined) {
  const environment = { ...repository.environment, SHELL: '/bin/sh' };
  daemon = await startTestNode(home, { environment, faults });
  client = await TestClient.connect(daemon.socket);
}
const place = (name: string) => repository.place(name);
const create = (more: Partial<ParamsInput<'worktree.create'>> & { branch: string }) =>
  client.call('worktree.create', { sourceWorkspaceId: source, ...more });
const remove = (targetRoot: string, discardIgnored = false) =>
  client.call('worktree.remove', { sourceWorkspaceId: source, targetRoot, discardIgnored });
const list = (withChanges = false) => client.call('worktree.list', { workspaceId: source, withChanges });
const workspaces = async () => (await client.call('workspace.list', {})).workspaces.map(({ root }) => root);
async function refusal(work: Promise<unknown>): Promise<Failure> {
  try {
    await work;
  } catch (error) {
    if (error instanceof FailureError) return error.failure;
    throw error;
  }
  throw new Error('it was not refused');
}
const spawn = (directory: string, name = 'agent') =>
  client.call('session.spawn', {
    directory,
    name,
    launch: { kind: 'command', command: ['/bin/sh', '-c', 'cat'] },
  });

describe('a worktree by hand', () => {
  it('goes beside the main checkout, is a workspace at once, and leaves its branch when it goes', async () => {
    const before = repository.git(['rev-parse', 'HEAD']);
    const made = await create({ branch: 'feature/one' });
    const path = place('repo.worktrees/feature-one');
    expect(made).toMatchObject({
      worktree: { path, branch: 'feature/one', head: before, isMain: false, sessions: [] },
      workspace: { id: 'feature-one', root: path, kind: 'git' },
      recoveryRefs: [],
    });
    expect(made.worktree.workspaceId).toBe('feature-one');
    const listed = await list(true);
    expect(listed.mode).toBe('manual');
    expect(listed.worktrees.map((one) => [one.path, one.isMain, one.dirty])).toEqual([
      [repository.root, true, false],
      [path, false, false],
    ]);
    repository.write('new', 'x', path);
    expect((await list(true)).worktrees[1]?.dirty).toBe(true);
    const commit = repository.commit('work', path);
    const gone = await remove(`${path}/`);
    expect(gone).toEqual({ targetRoot: `${path}/`, workspaceId: 'feature-one', recoveryRefs: [] });
    expect(existsSync(path)).toBe(false);
    expect(await workspaces()).toEqual([repository.root]);
    expect(repository.git(['rev-parse', 'feature/one'])).toBe(commit);
    const kinds = client.events.map((event) => event.body.kind);
    expect(kinds).toEqual([]);
    const events = await client.call('events.read', { after: 0 });
    expect(events.events.map(({ body }) => body.kind).filter((kind) => kind.startsWith('workspace'))).toEqual(
      ['workspace-registered', 'workspace-registered', 'workspace-unregistered'],
    );
  });

  it('takes a branch that is there only when it is told to adopt it', async () => {
    repository.git(['branch', 'theirs']);
    expect(await refusal(create({ branch: 'theirs' }))).toMatchObject({
      code: 'branch-exists',
      details: { branch: 'theirs', choices: ['adopt', 'other-name'] },
    });
    expect(await workspaces()).toEqual([repository.root]);
    expect(existsSync(place('repo.worktrees/theirs'))).toBe(false);
    expect((await create({ branch: 'theirs', adopt: true })).worktree.branch).toBe('theirs');
  });

  it('begins at the commit that is asked for, else at that of the workspace it is made from', async () => {
    const first = repository.git(['rev-parse', 'HEAD']);
    repository.write('file.txt', 'two\n');
    const second = repository.commit('second');
    expect((await create({ branch: 'a', base: first })).worktree.head).toBe(first);
    expect((await create({ branch: 'b' })).worktree.head).toBe(second);
    const from = WorkspaceId.parse('a');
    const made = await client.call('worktree.create', { sourceWorkspaceId: from, branch: 'c' });
    expect(made.worktree).toMatchObject({ head: first, path: place('repo.worktrees/c') });
    expect((await refusal(create({ branch: 'd', base: 'absent' }))).code).toBe('invalid-revision');
  });

  it('leaves nothing begun when it is refused: what stands there keeps its place and no recovery is told', async () => {
    mkdirSync(place('full'));
    writeFileSync(join(place('full'), 'mine'), 'mine');
    for (const attempt of ['first', 'second']) {
      const { code, details } = await refusal(create({ branch: attempt, targetRoot: place('full') }));
      expect([code, details?.why]).toEqual(['worktree-conflict', 'path-exists']);
    }
    expect((await list()).recoveries).toEqual([]);
  });

  it('makes no directory among what git keeps for itself, where the repository is that of a submodule', async () => {
    const allowed = ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add'];
    repository.git(['init', '--quiet', place('above')], repository.base);
    repository.git([...allowed, repository.root, 'sub'], place('above'));
    await client.call('workspace.register', {
      root: place('above/sub'),
      workspaceId: WorkspaceId.parse('sub'),
    });
    const before = hashTree(place('above/.git/modules'));
    const asked = create({ sourceWorkspaceId: WorkspaceId.parse('sub'), branch: 'one' });
    expect((await refusal(asked)).code).toBe('worktree-protected');
    expect(hashTree(place('above/.git/modules'))).toBe(before);
  });

  it('is refused before git is asked when its id or directory is a workspace already', async () => {
    mkdirSync(place('other'));
    await client.call('workspace.register', {
      root: place('other'),
      workspaceId: WorkspaceId.parse('other'),
    });
    const byId = create({ branch: 'x', workspaceId: WorkspaceId.parse('other') });
    expect((await refusal(byId)).code).toBe('duplicate-workspace-id');
    rmSync(place('other'), { recursive: true });
    const byRoot = create({ branch: 'x', targetRoot: place('other'), workspaceId: WorkspaceId.parse('x') });
    expect((await refusal(byRoot)).code).toBe('duplicate-workspace-root');
    expect(repository.try(['show-ref', '--verify', '--quiet', 'refs/heads/x'])).toBe(1);
  });

  it('made twice at once for one branch comes to be once', async () => {
    const both = await Promise.allSettled([
      create({ branch: 'same', targetRoot: place('one') }),
      create({ branch: 'same', targetRoot: place('two') }),
    ]);
    const [made, refused] = [
      both.filter((one) => one.status === 'fulfilled'),
      both.filter((one) => one.status === 'rejected'),
    ];
    expect([made.length, refused.length]).toEqual([1, 1]);
    expect(repository.worktrees()).toHaveLength(2);
    expect(await workspaces()).toHaveLength(2);
  });

  it('takes no session while it is made or removed', async () => {
    writeFileSync(
      join(repository.root, '.git/hooks/post-checkout'),
      '#!/bin/sh\n: > ../started\nwhile [ ! -e ../go ]; do sleep 0.05; done\n',
      { mode: 0o755 },
    );
    const making = create({ branch: 'slow', targetRoot: place('slow') });
    await expect.poll(() => existsSync(place('started')), { timeout: 20_000 }).toBe(true);
    expect((await refusal(spawn(place('slow')))).code).toBe('worktree-changing');
    expect((await refusal(client.call('workspace.register', { root: place('slow') }))).code).toBe(
      'worktree-changing',
    );
    expect((await list()).recoveries).toMatchObject([{ path: place('slow'), act: 'create', why: 'running' }]);
    writeFileSync(place('go'), '');
    await making;
    expect((await spawn(place('slow'))).status).toBe('running');
  });

  it('is not made or removed by hand where the configuration says so, before anything is looked at', async () => {
    await daemon.stop();
    client.close();
    writeFileSync(
      join(home.path, 'config.json'),
      JSON.stringify({ worktrees: { source: 'off', absent: 'managed' } }),
    );
    await start();
    for (const [workspace, mode] of [
      ['source', 'off'],
      ['absent', 'managed'],
    ] as const) {
      const sourceWorkspaceId = WorkspaceId.parse(workspace);
      const expected = { code: 'worktree-service-mode', details: { workspaceId: workspace, mode } };
      const asked = { sourceWorkspaceId, targetRoot: '/nowhere/../x', branch: '..' };
      expect(await refusal(client.call('worktree.create', asked))).toMatchObject(expected);
      const removal = { sourceWorkspaceId, targetRoot: '/nowhere/../x' };
      expect(await refusal(client.call('worktree.remove', removal))).toMatchObject(expected);
    }
    expect((await list()).mode).toBe('off');
  });

  it('that could not be registered is taken away again; its branch stays', async () => {
    client.close();
    await daemon.stop();
    await start((point) => {
      if (point === 'worktree-create:added') throw new FailureError('storage-failed');
    });
    expect((await refusal(create({ branch: 'one', targetRoot: place('one') }))).code).toBe('storage-failed');
    expect([existsSync(place('one')), repository.worktrees()]).toEqual([false, [repository.root]]);
    expect((await list()).recoveries).toEqual([]);
    expect(repository.try(['show-ref', '--verify', '--quiet', 'refs/heads/one'])).toBe(0);
  });

  it('is not made for an observer, nor without the lease', async () => {
    const observer = await TestClient.connect(daemon.socket, { role: 'observer' });
    const asked = { sourceWorkspaceId: source, branch: 'x' };
    expect((await refusal(observer.call('worktree.create', asked))).code).toBe('observer-read-only');
    observer.close();
    client.lease = null;
    expect((await refusal(create({ branch: 'x' }))).code).toBe('controller-required');
    expect((await refusal(remove(place('x')))).code).toBe('controller-required');
    expect(existsSync(place('repo.worktrees'))).toBe(false);
  });
});

describe('a launch that selects a worktree', () => {
  const launch = (worktreeId: string | null, key: string) =>
    client.call('spawn.submit', {
      target: { nodeId: daemon.identity.nodeId, workspaceId: source, worktreeId },
      profileId: 'shell',
      expectedRevision: 'r1',
      deadlineMs: 60_000,
      idempotencyKey: key,
    });
  beforeEach(() => {
    const profiles = join(home.path, 'profiles', 'spawn');
    mkdirSync(profiles, { recursive: true, mode: 0o700 });
    writeFileSync(join(profiles, 'shell.json'), JSON.stringify({ provider: 'shell', revision: 'r1' }));
  });

  it('runs there, as a session of that workspace', async () => {
    const { workspace } = await create({ branch: 'one' });
    const receipt = await launch(workspace.id, 'k1');
    expect(receipt).toMatchObject({
      target: { workspaceId: source, worktreeId: workspace.id },
      session: { workspaceId: workspace.id },
    });
    const { sessions } = await client.call('session.list', {});
    expect(sessions.map(({ directory }) => directory)).toEqual([workspace.root]);
    expect((await list()).worktrees[1]?.sessions).toEqual([
      { sessionId: receipt.session.sessionId, name: receipt.name },
    ]);
  });

  it('is refused what is no worktree of that repository', async () => {
    mkdirSync(place('other'));
    await client.call('workspace.register', {
      root: place('other'),
      workspaceId: WorkspaceId.parse('other'),
    });
    const why = async (id: string) => (await refusal(launch(id, id))).details?.why;
    expect(await why('other')).toBe('not-listed');
    expect(await why('source')).toBe('main-worktree');
    expect((await refusal(launch('absent', 'absent'))).code).toBe('unknown-workspace');
    expect((await client.call('session.list', { includeEnded: true })).sessions).toEqual([]);
  });

  it('needs the capability for it', async () => {
    const peer = await TestClient.connect(daemon.socket, {
      capabilities: OFFERED_CAPABILITIES.filter((one) => one !== 'worktree-selection-v1'),
    });
    const asked = peer.call('spawn.submit', {
      target: { nodeId: daemon.identity.nodeId, workspaceId: source, worktreeId: 'one' },
      profileId: 'shell',
      expectedRevision: 'r1',
      deadlineMs: 60_000,
      idempotencyKey: 'k',
    });
    expect((await refusal(asked)).code).toBe('unsupported-capability');
    peer.close();
  });
});

describe('a worktree that was deleted by hand', () => {
  beforeEach(async () => {
    await create({ branch: 'one', targetRoot: place('one') });
    await create({ branch: 'two', targetRoot: place('two') });
    repository.git(['checkout', '--quiet', '--detach'], place('two'));
  });

  it('is forgotten when it is removed, and no other; its lonely commits get a recovery ref', async () => {
    const lonely = repository.commit('lonely', place('two'));
    rmSync(place('one'), { recursive: true });
    rmSync(place('two'), { recursive: true });
    expect((await remove(place('two'))).recoveryRefs).toEqual(['refs/roost/recovered/two']);
    expect(repository.git(['rev-parse', 'refs/roost/recovered/two'])).toBe(lonely);
    expect(repository.worktrees()).toEqual([repository.root, place('one')]);
    expect(await workspaces()).toEqual([place('one'), repository.root]);
  });

  it('gives way to a new one at its place, under the same workspace, and to one that adopts its branch', async () => {
    rmSync(place('one'), { recursive: true });
    const again = await create({ branch: 'other', targetRoot: place('one') });
    expect(again.workspace.id).toBe('one');
    rmSync(place('one'), { recursive: true });
    const adopted = await create({ branch: 'other', adopt: true, targetRoot: place('three') });
    expect(adopted.worktree.branch).toBe('other');
    expect(repository.worktrees().sort()).toEqual([repository.root, place('three'), place('two')].sort());
  });

  it('gives way to one that is no second way into it, when it was moved instead', async () => {
    renameSync(place('one'), place('moved'));
    await create({ branch: 'other', targetRoot: place('one') });
    expect(repository.try(['status'], place('moved'))).not.toBe(0);
    expect(repository.git(['branch', '--show-current'], place('one'))).toBe('other');
    expect(readFileSync(join(place('moved'), 'file.txt'), 'utf8')).toBe('one\n');
    await remove(place('one'));
    expect(repository.worktrees()).toEqual([repository.root, place('two')]);
  });

  it('does not give way when it is locked', async () => {
    repository.git(['worktree', 'lock', '--reason', 'on a disk', place('one')]);
    rmSync(place('one'), { recursive: true });
    expect(await refusal(create({ branch: 'other', targetRoot: place('one') }))).toMatchObject({
      code: 'worktree-locked',
      details: { reason: 'on a disk' },
    });
    expect((await refusal(remove(place('one')))).code).toBe('worktree-locked');
    expect(repository.worktrees()).toContain(place('one'));
  });
});

describe('a hook of the repository', () => {
  const hook = (...lines: string[]) =>
    writeFileSync(join(repository.root, '.git/hooks/post-checkout'), ['#!/bin/sh', ...lines, ''].join('\n'), {
      mode: 0o755,
    });

  it('that fails or hangs leaves nothing but the branch, and what is told tells that, and no word of the hook', async () => {
    hook('echo words of the hook >&2', 'exit 3');
    const failed = await refusal(create({ branch: 'one' }));
    expect(failed).toMatchObject({ code: 'git-failed', details: { branch: 'one', undone: true } });
    expect(JSON.stringify(failed)).not.toContain('words of the hook');
    hook('exec sleep 60');
    const hung = await refusal(create({ branch: 'two', deadlineMs: 1_500 }));
    expect(hung.code).toBe('git-timed-out');
    expect([repository.worktrees(), (await list()).recoveries]).toEqual([[repository.root], []]);
    expect(existsSync(place('repo.worktrees'))).toBe(false);
    rmSync(join(repository.root, '.git/hooks/post-checkout'));
    expect((await create({ branch: 'one', adopt: true })).worktree.branch).toBe('one');
  });

  it('that fails when it has written something leaves that, and it can be removed once it is clean', async () => {
    hook(`echo mine > made; echo mine > ${repository.root}/made`, 'exit 1');
    const path = place('one');
    const failed = await refusal(create({ branch: 'one', targetRoot: path }));
    expect(failed).toMatchObject({ code: 'worktree-recovery-required', details: { path } });
    expect((await list()).recoveries).toMatchObject([{ path, act: 'create', why: 'incomplete' }]);
    expect((await refusal(remove(path))).code).toBe('worktree-dirty');
    rmSync(join(path, 'made'));
    await remove(path);
    expect([existsSync(path), existsSync(join(repository.root, 'made'))]).toEqual([false, true]);
  });

  it('that keeps git at work keeps others from the repository no longer than they wait', async () => {
    hook(`: > ${place('started')}`, `while [ ! -e ${place('go')} ]; do sleep 0.05; done`);
    const making = create({ branch: 'one' });
    await waitFor(() => existsSync(place('started')), 'git to run the hook');
    const other = await refusal(create({ branch: 'two', deadlineMs: 2_000 }));
    expect(other).toMatchObject({ code: 'worktree-changing', details: { workspaceId: 'source' } });
    writeFileSync(place('go'), '');
    await making;
    expect((await create({ branch: 'two' })).workspace.id).toBe('two');
  });
});

describe('what stands at the root of a workspace now', () => {
  it('is told when it is another thing than the worktree that was registered, and is not touched', async () => {
    const path = place('one');
    await create({ branch: 'one', targetRoot: path });
    const through = { sourceWorkspaceId: WorkspaceId.parse('one') };
    const asked = () => [
      client.call('worktree.list', { workspaceId: through.sourceWorkspaceId }),
      client.call('worktree.create', { ...through, branch: 'two' }),
      client.call('worktree.remove', { ...through, targetRoot: path }),
    ];
    const expectAll = async (expected: object) => {
      for (const refused of await Promise.all(asked().map(refusal))) expect(refused).toMatchObject(expected);
    };
    rmSync(path, { recursive: true });
    await expectAll({ code: 'invalid-workspace-root', details: { root: path, workspaceId: 'one' } });
    writeFileSync(path, 'theirs');
    await expectAll({ code: 'invalid-workspace-root' });
    rmSync(path);
    repository.write('theirs', 'theirs', path);
    await expectAll({ code: 'not-git-repository', details: { root: path, registeredAs: 'git' } });
    // From elsewhere in the repository.
    const replaced = { code: 'worktree-protected', details: { path, why: 'replaced' } };
    expect(await refusal(remove(path))).toMatchObject(replaced);
    expect(readFileSync(join(path, 'theirs'), 'utf8')).toBe('theirs');
  });

  it('is asked about no more when another removed it first', async () => {
    const path = place('one');
    await create({ branch: 'one', targetRoot: path });
    const removal = { sourceWorkspaceId: WorkspaceId.parse('one'), targetRoot: path };
    const both = await Promise.allSettled([
      client.call('worktree.remove', removal),
      client.call('worktree.remove', removal),
    ]);
    const refused = both.flatMap((one) => (one.status === 'rejected' ? [one.reason as FailureError] : []));
    expect(refused.map(({ failure: { code, details } }) => [code, details?.why])).toEqual([
      ['worktree-protected', 'not-listed'],
    ]);
  });
});

interface Case {
  readonly title: string;
  readonly code: FailureCode;
  readonly details: Record<string, unknown>;
  /** Brings the worktree at `one` into that state. */
  readonly arrange: (one: string) => unknown;
  /** What is asked to be removed; the worktree unless given. */
  readonly target?: () => string;
}

describe('the deletion matrix: a worktree that holds something stays, and so does everything around it', () => {
  const git = (args: readonly string[], directory: string) => repository.git(args, directory);
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@localhost'];
  const CASES: readonly Case[] = [
    {
      title: 'a changed file',
      code: 'worktree-dirty',
      details: { changed: 1, untracked: 0, names: ['file.txt'] },
      arrange: (one) => repository.write('file.txt', 'mine\n', one),
    },
    {
      title: 'a change that is only staged',
      code: 'worktree-dirty',
      details: { changed: 1, untracked: 0 },
      arrange: (one) => {
        repository.write('file.txt', 'mine\n', one);
        git(['add', 'file.txt'], one);
      },
    },
    {
      title: 'an untracked file with a strange name',
      code: 'worktree-dirty',
      details: { changed: 0, untracked: 1, names: ['dir/new\n"one"'] },
      arrange: (one) => repository.write('dir/new\n"one"', 'mine', one),
    },
    {
      title: 'ignored files',
      code: 'worktree-dirty',
      details: { ignored: 2, names: ['.env.secret', 'ignored/'] },
      arrange: (one) => {
        repository.write('ignored/deep/file', 'mine', one);
        repository.write('.env.secret', 'mine', one);
      },
    },
    {
      title: 'a change that git was told to overlook',
      code: 'worktree-dirty',
      details: { changed: 1, names: ['file.txt'] },
      arrange: (one) => {
        git(['update-index', '--assume-unchanged', 'file.txt'], one);
        repository.write('file.txt', 'mine\n', one);
      },
    },
    {
      title: 'a lock',
      code: 'worktree-locked',
      details: { reason: 'in a drawer' },
      arrange: (one) => git(['worktree', 'lock', '--reason', 'in a drawer', one], repository.root),
    },
    {
      title: 'a submodule',
      code: 'worktree-dirty',
      details: { submodules: 1 },
      arrange: (one) => {
        git(['init', '--quiet', place('sub')], repository.base);
        git([...identity, 'commit', '--quiet', '--allow-empty', '-m', 'sub'], place('sub'));
        git(['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', place('sub'), 'sub'], one);
        repository.commit('with a submodule', one);
      },
    },
    {
      title: 'a repository of its own inside',
      code: 'worktree-dirty',
      details: { untracked: 1, names: ['nested/'] },
      arrange: (one) => {
        git(['init', '--quiet', join(one, 'nested')], repository.base);
        git([...identity, 'commit', '--quiet', '--allow-empty', '-m', 'nested'], join(one, 'nested'));
      },
    },
    {
      title: 'a rebase in progress',
      code: 'worktree-dirty',
      details: { operation: 'rebase' },
      arrange: (one) => {
        repository.write('file.txt', 'theirs\n', one);
        repository.commit('theirs', one);
        repository.write('file.txt', 'ours\n');
        repository.commit('ours');
        expect(repository.try(['rebase', 'main'], one)).not.toBe(0);
      },
    },
    {
      title: 'another worktree inside',
      code: 'worktree-protected',
      details: { why: 'contains-worktree' },
      arrange: (one) =>
        git(['worktree', 'add', '--quiet', '-b', 'inner', join(one, 'ignored', 'inner')], repository.root),
    },
    {
      title: 'a live session',
      code: 'worktree-in-use',
      details: { sessions: 1, names: ['agent'] },
      arrange: (one) => {
        mkdirSync(join(one, 'ignored'));
        return spawn(join(one, 'ignored'));
      },
    },
    {
      title: 'the main checkout as the target',
      code: 'worktree-protected',
      details: { why: 'main-worktree' },
      arrange: () => undefined,
      target: () => repository.root,
    },
    {
      title: 'a directory of somebody else as the target',
      code: 'worktree-protected',
      details: { why: 'not-listed' },
      arrange: () => undefined,
      target: () => repository.home,
    },
    {
      title: 'a link in the place of the worktree',
      code: 'worktree-protected',
      details: { why: 'replaced' },
      arrange: (one) => {
        renameSync(one, place('aside'));
        symlinkSync(place('aside'), one);
      },
    },
    {
      title: 'a link to the main checkout in the place of the worktree',
      code: 'worktree-protected',
      details: { why: 'replaced' },
      arrange: (one) => {
        renameSync(one, place('aside'));
        symlinkSync(repository.root, one);
      },
    },
    {
      title: 'a link above the worktree that leads to another repository',
      code: 'worktree-protected',
      details: { why: 'not-listed' },
      arrange: () => {
        renameSync(place('worktrees'), place('aside'));
        mkdirSync(place('elsewhere'));
        git(['clone', '--quiet', repository.root, place('elsewhere/one')], repository.base);
        symlinkSync(place('elsewhere'), place('worktrees'));
      },
    },
  ];

  it.each(CASES)('$title: $code', async ({ code, details, arrange, target }) => {
    mkdirSync(place('worktrees'));
    const one = place('worktrees/one');
    await create({ branch: 'one', targetRoot: one });
    await create({ branch: 'sibling', targetRoot: place('sibling') });
    repository.write('canary', 'untouched', place('sibling'));
    await arrange(one);
    const before = [hashTree(repository.base, ['home']), repository.refs()];
    for (const discardIgnored of code === 'worktree-dirty' && 'ignored' in details
      ? [false]
      : [false, true]) {
      const failure = await refusal(remove(target?.() ?? one, discardIgnored));
      expect(failure).toMatchObject({ code, details });
      expect(failure.message).toBe(FAILURE_SENTENCES[code]);
    }
    expect([hashTree(repository.base, ['home']), repository.refs()]).toEqual(before);
    expect((await list()).recoveries).toEqual([]);
    expect(repository.try(['fsck', '--strict'])).toBe(0);
  });

  it('an unmerged branch: the worktree goes, every commit stays on the branch', async () => {
    await create({ branch: 'one', targetRoot: place('one') });
    const commit = repository.commit('unmerged', place('one'));
    expect((await remove(place('one'))).recoveryRefs).toEqual([]);
    expect(repository.git(['rev-parse', 'one'])).toBe(commit);
  });

  it('detached commits: the worktree goes, the commits stay under recovery refs, those of its log too', async () => {
    await create({ branch: 'one', targetRoot: place('one') });
    const one = place('one');
    git(['checkout', '--quiet', '--detach'], one);
    repository.commit('left behind', one);
    const left = repository.commit('left behind as well', one);
    git(['checkout', '--quiet', '--detach', 'main'], one);
    const last = repository.commit('last', one);
    const main = hashTree(repository.root, ['.git']);
    expect((await remove(one)).recoveryRefs).toEqual([
      'refs/roost/recovered/one',
      'refs/roost/recovered/one-2',
    ]);
    expect(
      git(['rev-parse', 'refs/roost/recovered/one', 'refs/roost/recovered/one-2'], repository.root),
    ).toBe(`${last}\n${left}`);
    expect(repository.git(['fsck', '--unreachable', '--no-reflogs'])).toBe('');
    expect(readFileSync(join(repository.root, '.git/logs/refs/roost/recovered/one'), 'utf8')).toContain(last);
    expect(hashTree(repository.root, ['.git'])).toBe(main);
  });

  it('ignored files go with it when that is asked for, but never a repository among them', async () => {
    await create({ branch: 'one', targetRoot: place('one') });
    git(['init', '--quiet', join(place('one'), 'ignored/deep/nested')], repository.base);
    expect(await refusal(remove(place('one'), true))).toMatchObject({
      code: 'worktree-dirty',
      details: { repositories: 1, names: ['ignored/deep/nested/'] },
    });
    rmSync(join(place('one'), 'ignored/deep/nested'), { recursive: true });
    repository.write('ignored/file', 'x', place('one'));
    await remove(place('one'), true);
    expect(existsSync(place('one'))).toBe(false);
  });
});
