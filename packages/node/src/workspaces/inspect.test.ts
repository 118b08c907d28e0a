import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WorkspaceId, type InspectedGit } from '@roost/protocol';
import type { Daemon, DaemonOptions } from '../daemon.ts';
import { Scratch } from '../git/scratch-for-test.ts';
import { failureOf, startTestNode, TestClient, TestHome, waitFor } from '../node-for-test.ts';
import { parseCommits } from './git-questions.ts';

let home: TestHome;
let scratch: Scratch;
let daemon: Daemon | undefined;
let clients: TestClient[];
beforeEach(() => {
  home = new TestHome();
  scratch = new Scratch();
  clients = [];
});
afterEach(async () => {
  for (const client of clients) client.close();
  await daemon?.stop();
  daemon = undefined;
  await home.remove();
});

async function start(
  options: Partial<DaemonOptions> & { readonly config?: object } = {},
): Promise<TestClient> {
  const { config, ...rest } = options;
  if (config !== undefined) writeFileSync(join(home.path, 'config.json'), JSON.stringify(config));
  daemon = await startTestNode(home, { environment: scratch.source.environment, ...rest });
  return connect();
}

async function connect(options: Parameters<typeof TestClient.connect>[1] = {}): Promise<TestClient> {
  const client = await TestClient.connect(daemon?.socket ?? '', options);
  clients.push(client);
  return client;
}

const budget = (inspection: object) => ({ workspaces: { inspection } });

describe('an inspection', () => {
  it('shows an observer the tree and what git says, of registered workspaces and of no others', async () => {
    const root = scratch.repository('repo', { 'src/main.rs': 'fn main() {}\n' });
    const commit = scratch.git(root, 'rev-parse', 'HEAD').trim();
    scratch.git(root, 'worktree', 'add', '-q', '-b', 'side', scratch.at('side'));
    scratch.write(root, { 'src/main.rs': 'changed\n', 'node_modules/x/y': '' });
    const operator = await start();
    const { id } = await operator.call('workspace.register', { root });
    const side = await operator.call('workspace.register', { root: scratch.at('side') });
    const observer = await connect({ role: 'observer' });
    const inspection = await observer.call('workspace.inspect', { workspaceId: id });
    expect(inspection).toMatchObject({
      workspaceId: id,
      tree: {
        cuts: [],
        entries: [
          { path: '.git', kind: 'directory', skipped: true },
          { path: 'node_modules', kind: 'directory', skipped: true },
          { path: 'src', kind: 'directory', skipped: false },
          { path: 'src/main.rs', kind: 'file', skipped: false },
        ],
      },
      git: {
        status: {
          kind: 'repository',
          branch: 'main',
          commit,
          entries: [
            { path: 'src/main.rs', index: 'unmodified', worktree: 'modified' },
            { path: 'node_modules', worktree: 'untracked', isDirectory: true },
          ],
        },
        commits: [{ id: commit, subject: 'a commit' }],
        worktrees: [
          { path: root, branch: 'main', head: commit, isMain: true, workspaceId: id },
          { path: scratch.at('side'), branch: 'side', isMain: false, workspaceId: side.id },
        ],
        cuts: [],
      },
    });
    const nobody = WorkspaceId.parse('nobody');
    expect(await failureOf(observer.call('workspace.inspect', { workspaceId: nobody }))).toBe(
      'unknown-workspace',
    );
  });

  it('says so when there is no repository, and when there are no commits yet', async () => {
    const client = await start();
    mkdirSync(scratch.at('plain'));
    const plain = await client.call('workspace.register', { root: scratch.at('plain') });
    const { git } = await client.call('workspace.inspect', { workspaceId: plain.id });
    expect(git).toEqual({ status: { kind: 'not-a-repository' }, commits: [], worktrees: [], cuts: [] });
    const empty = await client.call('workspace.register', { root: scratch.repository('empty') });
    const { git: unborn } = await client.call('workspace.inspect', { workspaceId: empty.id });
    expect(unborn).toMatchObject({
      status: { kind: 'repository', branch: 'main', commit: null },
      commits: [],
      worktrees: [{ head: null }],
      cuts: [],
    });
  });

  it('is cut at its bounds and says where', async () => {
    const root = scratch.repository('repo', { 'a.txt': '' });
    for (let number = 0; number < 12; number += 1) scratch.commit(root, {}, `commit ${number}`);
    scratch.write(
      root,
      Object.fromEntries(Array.from({ length: 200 }, (_, number) => [`new-${number}`, ''])),
    );
    const client = await start({ config: budget({ entriesMax: 5 }) });
    const { id } = await client.call('workspace.register', { root });
    const { tree, git } = await client.call('workspace.inspect', { workspaceId: id });
    expect(tree).toMatchObject({ visited: 5, cuts: ['visits'] });
    expect(git.status).toMatchObject({ kind: 'repository', entriesCut: true });
    expect(git.status.kind === 'repository' && git.status.entries).toHaveLength(128);
    expect(git.commits).toHaveLength(12);
    expect(git.cuts).toEqual([{ of: 'commits', why: 'entries' }]);
  });

  it('answers in time when git does not, with the tree whole and the repository unknown, never as none', async () => {
    const root = scratch.repository('repo', { 'a.txt': '' });
    const source = scratch.withProgram('git', 'exec sleep 60');
    const client = await start({ environment: source.environment, config: budget({ budgetMs: 2_000 }) });
    const { id } = await client.call('workspace.register', { root });
    const before = performance.now();
    const { tree, git } = await client.call('workspace.inspect', { workspaceId: id });
    expect(performance.now() - before).toBeLessThan(6_000);
    expect(tree).toMatchObject({ cuts: [], visited: 2 });
    expect(git.status).toEqual({ kind: 'unknown', reason: 'git-timed-out' });
    expect(git.cuts.map(({ why }) => why)).toEqual(['time', 'time']);
  });

  it('says that there is no git, and that git failed, as what is unknown', async () => {
    const root = scratch.repository('repo', { 'a.txt': '' });
    const environment = { PATH: scratch.at('nothing'), HOME: scratch.at('home') };
    const client = await start({ environment });
    const { id } = await client.call('workspace.register', { root });
    const { git } = await client.call('workspace.inspect', { workspaceId: id });
    const expected: InspectedGit = {
      status: { kind: 'unknown', reason: 'git-not-installed' },
      commits: [],
      worktrees: [],
      cuts: [
        { of: 'commits', why: 'failed' },
        { of: 'worktrees', why: 'failed' },
      ],
    };
    expect(git).toEqual(expected);
  });

  it('is refused at once beyond four at a time, and gives its slot back', async () => {
    const root = scratch.repository('repo', { 'a.txt': '' });
    const gate = scratch.at('gate');
    const source = scratch.withProgram(
      'git',
      `while [ ! -e ${gate} ]; do sleep 0.02; done; exec /usr/bin/git "$@"`,
    );
    const client = await start({ environment: source.environment });
    const { id } = await client.call('workspace.register', { root });
    const waiting = Array.from({ length: 4 }, () => client.call('workspace.inspect', { workspaceId: id }));
    expect(await failureOf(client.call('workspace.inspect', { workspaceId: id }))).toBe('backend-busy');
    expect(await failureOf(client.call('host.browseDirectories', {}))).toBe('backend-busy');
    writeFileSync(gate, '');
    for (const { git } of await Promise.all(waiting)) expect(git.status.kind).toBe('repository');
    await client.call('host.browseDirectories', {});
  });
});

describe('commits as git prints them', () => {
  const id = 'a'.repeat(40);
  it('are taken line by line; what is no commit is left out, and a cut line too', () => {
    const bytes = Buffer.from(
      `${id}\x1fone\x1ftwo\nno separator\n${'b'.repeat(64)}\x1f\x1b[31mred\n${id}\x1fcut`,
    );
    expect(parseCommits(bytes, true)).toEqual([
      { id, subject: 'one two' },
      { id: 'b'.repeat(64), subject: ' [31mred' },
    ]);
    expect(parseCommits(Buffer.alloc(0), false)).toEqual([]);
  });

  it('have subjects of at most 512 bytes, cut between characters', () => {
    const [commit] = parseCommits(Buffer.from(`${id}\x1f${'é'.repeat(300)}x`), false);
    expect(commit?.subject).toBe('é'.repeat(256));
    const [other] = parseCommits(Buffer.from(`${id}\x1fx${'é'.repeat(300)}`), false);
    expect(other?.subject).toBe(`x${'é'.repeat(255)}`);
  });
});

describe('browsing the machine', () => {
  it('is for operators: an observer may not, and a peer needs the capability', async () => {
    const operator = await start();
    mkdirSync(scratch.at('dirs/b'), { recursive: true });
    mkdirSync(scratch.at('dirs/a'));
    const listing = await operator.call('host.browseDirectories', { directory: scratch.at('dirs') });
    expect(listing.entries.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(await operator.call('host.browseDirectories', {})).toMatchObject({ directory: '/', parent: null });
    const observer = await connect({ role: 'observer' });
    expect(await failureOf(observer.call('host.browseDirectories', {}))).toBe('observer-read-only');
    const older = await connect({ capabilities: [] });
    expect(await failureOf(older.call('host.browseDirectories', {}))).toBe('unsupported-capability');
    const relative = operator.call('host.browseDirectories', { directory: 'relative' });
    expect(await failureOf(relative)).toBe('invalid-request');
  });
});

describe('a standalone workspace', () => {
  it('is a repository of its own, needs the lease and the capability, and is told like any other', async () => {
    const operator = await start();
    const root = scratch.at('fresh');
    const make = (client: TestClient, place = root) =>
      client.call('workspace.createStandalone', { root: place, branch: 'main' });
    expect(await failureOf(make(await connect({ role: 'observer' })))).toBe('observer-read-only');
    expect(await failureOf(make(await connect({ capabilities: [] })))).toBe('unsupported-capability');
    operator.lease = null;
    expect(await failureOf(make(operator))).toBe('controller-required');
    expect(existsSync(root)).toBe(false);
    operator.lease = 'brief';
    const { lastEventSequence: after } = await operator.call('node.status', {});
    const workspace = await make(operator);
    expect(workspace).toMatchObject({ id: 'fresh', root, kind: 'git', liveSessions: 0 });
    expect(scratch.git(root, 'branch', '--show-current').trim()).toBe('main');
    const { git } = await operator.call('workspace.inspect', { workspaceId: workspace.id });
    expect(git.worktrees).toMatchObject([{ path: root, isMain: true, workspaceId: workspace.id }]);
    expect((await operator.call('node.snapshot', {})).workspaces).toEqual([workspace]);
    const { events } = await operator.call('events.read', { after });
    expect(events.map(({ body }) => body)).toEqual([{ kind: 'workspace-registered', workspace }]);
    expect(await failureOf(make(operator))).toBe('duplicate-workspace-root');
  });

  it('leaves an empty directory alone that is registered already, and one whose id is taken', async () => {
    const client = await start();
    const root = scratch.at('empty');
    mkdirSync(root);
    const { id } = await client.call('workspace.register', { root });
    const make = (place: string, workspaceId: string) =>
      client.call('workspace.createStandalone', { root: place, workspaceId: WorkspaceId.parse(workspaceId) });
    expect(await failureOf(make(root, 'other'))).toBe('duplicate-workspace-root');
    expect(existsSync(join(root, '.git'))).toBe(false);
    expect(await failureOf(make(scratch.at('new'), id))).toBe('duplicate-workspace-id');
    expect(existsSync(scratch.at('new'))).toBe(false);
  });

  it('lets no session start in its directory while it is made', async () => {
    const root = scratch.at('fresh');
    const gate = scratch.at('gate');
    const script = [
      `case "$*" in *init*) touch ${gate}.waits; while [ ! -e ${gate} ]; do sleep 0.02; done;; esac`,
      'exec /usr/bin/git "$@"',
    ];
    const client = await start({ environment: scratch.withProgram('git', script.join('\n')).environment });
    const making = client.call('workspace.createStandalone', { root });
    await waitFor(() => existsSync(`${gate}.waits`), 'git to run');
    const spawning = client.call('session.spawn', {
      directory: root,
      launch: { kind: 'command', command: ['true'] },
    });
    expect(await failureOf(spawning)).toBe('worktree-changing');
    writeFileSync(gate, '');
    expect((await making).root).toBe(root);
  });
});
