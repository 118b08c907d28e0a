/**
 * The examples of docs/api.md with a real curl, at a real hub with a node: each in its turn, with the ids that the ones before it answered, and
 * each answered with a status that the page's own document names.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nodeRequest } from '@roost/client';
import { openApiDocument } from '../../packages/hub/src/http/openapi.ts';
import { ApiExamples, hasCurl, type Real } from '../support/api-examples.ts';
import { HubHome } from '../support/hub-home.ts';
import { CLI, isAlive } from '../support/roost-home.ts';
import { putStandInAgent } from '../support/stand-in-agent.ts';
import { waitFor } from '../support/wait-for.ts';

const hub = new HubHome();
const examples = new ApiExamples();
let shop = '';

beforeAll(async () => {
  putStandInAgent(hub);
  const bin = join(hub.root, 'bin');
  writeFileSync(join(bin, 'roost'), `#!/bin/sh\nexec "${process.execPath}" "${CLI}" "$@"\n`, { mode: 0o755 });
  shop = join(hub.root, 'shop');
  mkdirSync(join(shop, 'src'), { recursive: true });
  writeFileSync(join(shop, 'notes.txt'), 'one\n');
  const git = (...args: string[]) => execFileSync('git', ['-C', shop, ...args], { env: hub.environment });
  git('init', '--quiet', '--initial-branch', 'main');
  git('add', '.');
  git('-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '--quiet', '--message', 'Begin');
  mkdirSync(join(hub.root, 'trees'));
  putProfile('spawn', { revision: '1', provider: 'shell' });
  await hub.up();
  await hub.link('local', 'online');
  await hub.ask('nodes.rename', { node: 'local', name: 'laptop' });
});
afterAll(() => hub[Symbol.asyncDispose]());

it('every example works for whoever has read what the page begins with', async ({ skip }) => {
  if (!(await hasCurl())) return skip('there is no curl');
  const script = examples.beginning.replace('http://127.0.0.1:18320', hub.url);
  expect(script).toContain(hub.url);
  const printed = execFileSync('sh', ['-euc', `${script}\nprintf '\\n%s' "$ROOST_TOKEN"`], {
    env: hub.environment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trimEnd();
  const at = printed.lastIndexOf('\n');
  expect(printed.slice(0, at)).toContain('"sessions":[');
  const token = printed.slice(at + 1);
  examples.env = { ...hub.environment, ROOST_HUB: hub.url, ROOST_TOKEN: token };
  expect(token).toMatch(/^roost_hub_[0-9a-f]{64}$/);

  // One story: each example needs what those before it made.
  await theHubItself();
  await people();
  await filesAndGit();
  const managed = await launches();
  await terminals();
  await agents();
  await records();
  await worktrees(managed);
  await history();
  await theLists();
  await theEnd();
  expect(examples.left).toEqual([]);
}, 300_000);

async function theHubItself(): Promise<void> {
  const response = await fetch(`${hub.url}/api/v1/openapi.json`);
  const described = JSON.parse(JSON.stringify(openApiDocument(ownVersion()))) as unknown;
  expect(await response.json()).toEqual(described);
  expect(examples.document).toEqual(described);
  await examples.done('hub.status');
  await examples.done('me.show');
  await examples.done('nodes.list');
  await examples.done('nodes.show');
  await examples.done('nodes.rename');
  await examples.done('/health');
  expect((await examples.done('/metrics')).text).toContain('roost_hub_nodes');
  const events = await examples.done('/api/v1/events', {}, { until: '\n\n' });
  expect(events.text).toMatch(/^id: [0-9a-f]{16}-\d+\nevent: alive\n/);
  await examples.done('invites.create');
  const invites = await examples.fact<{ invites: { id: string }[] }>('invites.list');
  await examples.done('invites.revoke', {}, { variables: { INVITE_ID: invites.invites[0]?.id ?? '' } });
  const { code } = await hub.ask('invites.create', {});
  // There is a node of that name already: it gets another.
  expect((await examples.done('nodes.enrol', { CODE: code })).text).toContain('laptop-2');
  await examples.done('nodes.remove', { 'nodes/laptop': 'nodes/laptop-2' });
}

async function people(): Promise<void> {
  const name = { '"ann"': '"ben"', 'users/ann': 'users/ben' };
  await examples.done('users.create', name);
  await examples.done('users.list');
  await examples.done('users.change', name);
  const { token } = await examples.fact<{ token: { id: string } }>('tokens.create');
  await examples.done('tokens.list');
  await examples.done('tokens.revoke', {}, { variables: { TOKEN_ID: token.id } });
  const { url } = await examples.fact<{ url: string }>('logins.create');
  await examples.done('logins.redeem', { CODE: url.split('/').at(-1) ?? '' });
  await examples.done('logins.end');
  await examples.done('users.remove', name);
  await examples.done('audit.list');
}

async function filesAndGit(): Promise<void> {
  await examples.done('node.status');
  await examples.done('node.snapshot');
  await examples.done('controller.show');
  await examples.done('provider.list');
  await examples.done('provider.check', { claude: 'qwen' });
  await examples.done('profile.list');
  await examples.done('host.browseDirectories');
  await examples.done('workspace.register', { '/home/ann/shop': shop });
  await examples.done('workspace.list');
  await examples.done('workspace.inspect');
  await examples.done('workspace.createFile');
  const { content } = await examples.fact<{ content: { revision: string } }>('workspace.readFile');
  await examples.done('workspace.writeFile', { ['0123456789abcdef'.repeat(4)]: content.revision });
  await examples.done('workspace.createDirectory', { 'src/main.ts': 'src/parts' });
  await examples.done('workspace.createStandalone', { '/home/ann/shop': join(hub.root, 'new') });
  await examples.done('workspace.unregister', { 'workspaces/shop': 'workspaces/new' });
  await examples.done('git.status');
  await examples.done('git.history');
  await examples.done('git.diff');
  await examples.done('worktree.list');
  await examples.done('worktree.create');
  const { workspaces } = await nodeRequest(hub.owner, 'laptop', 'workspace.list', {});
  const made = workspaces.find(({ id }) => id !== 'shop')?.root ?? '';
  await examples.done('worktree.remove', {
    [encodeURIComponent('/home/ann/shop')]: encodeURIComponent(made),
  });
}

/** Answers the lease of a managed worktree, and the session in it. */
async function launches(): Promise<{ readonly leaseId: string; readonly revision: string }> {
  const { id } = await hub.node('laptop');
  const real = { '0123456789abcdef': id };
  await examples.done('spawn.submit', real);
  await examples.done('spawn.result');
  // Worktrees of a workspace that has one are no longer made by hand.
  putProfile('worktree', { sourceWorkspace: 'shop', targetRoot: join(hub.root, 'trees') });
  await examples.done('worktree.profiles');
  const { profiles } = await nodeRequest(hub.owner, 'laptop', 'worktree.profiles', {});
  const revision = profiles[0]?.revision ?? '';
  const { id: leaseId } = await examples.fact<{ id: string }>('worktree.allocate', {
    '"expectedRevision":"1"': `"expectedRevision":"${revision}"`,
    'launch-1': 'launch-2',
  });
  await examples.done('worktree.leases');
  return { leaseId, revision };
}

async function terminals(): Promise<void> {
  await nodeRequest(hub.owner, 'laptop', 'session.spawn', {
    directory: shop,
    name: 'reviewer',
    launch: { kind: 'command', command: ['cat'] },
  });
  const session = await named('reviewer');
  const { real, variables } = session;
  await examples.done('session.list');
  await examples.done('session.resolve');
  await examples.done('session.readScreen', real, { variables });
  await examples.done('session.input', real, { variables });
  await examples.refused('session.paste', 'prompt-unsupported', real, { variables });
  await examples.done('session.sendBytes', real, { variables });
  await examples.done('session.sendKey', real, { variables });
  await examples.done('session.resize', real, { variables });
  await examples.done('session.acknowledge', real, { variables });
  await examples.done('session.interrupt', real, { variables });
  await examples.done('session.wait', real, { variables });
  await examples.done('session.diff', real, { variables });
  await examples.done('sessions.show', real, { variables });
  await examples.done('sessions.watchers', real, { variables });
  await examples.done('session.stop', real, { variables });
  await examples.done('session.remove', real, { variables });
}

async function agents(): Promise<void> {
  await examples.done('session.spawn', { '/home/ann/shop': shop, '"claude"': '"qwen"' });
  const { id } = await nodeRequest(hub.owner, 'laptop', 'session.spawn', {
    directory: shop,
    name: 'spoken',
    transport: 'pipe',
    launch: { kind: 'provider', provider: 'qwen', arguments: [] },
  });
  const { real, variables } = await named('spoken');
  const state = async () => (await hub.ask('sessions.show', { sessionId: id })).activity?.state;
  await waitFor('the agent to be ready', async () => (await state()) === 'ready', { state });
  await examples.done(
    'session.prompt',
    { ...real, 'explain the failing test': 'ask execute' },
    { variables },
  );
  await waitFor('the agent to ask', async () => (await state()) === 'blocked', { state });
  const { interactions } = await examples.fact<{ interactions: { id: string }[] }>('interaction.list');
  const asked = { INTERACTION_ID: interactions[0]?.id ?? '' };
  await examples.done('interaction.resolve', { '"text"': '"once"' }, { variables: asked });
  await examples.done('session.readTimeline', real, { variables });
  await examples.done('session.readOutput', real, { variables });
  await examples.refused('session.choose', 'unknown-choice', real, { variables });
  await examples.done('session.reportIdentity', real, { variables });
  await nodeRequest(hub.owner, 'laptop', 'session.stop', await addressOfSession(id));
  await waitFor(
    'it to end',
    async () => (await hub.ask('sessions.show', { sessionId: id })).endedAt !== null,
  );
  await examples.done('session.resume', real, { variables });
}

async function records(): Promise<void> {
  const { id: running } = await nodeRequest(hub.owner, 'laptop', 'session.resolve', { selector: 'spoken' });
  await nodeRequest(hub.owner, 'laptop', 'session.stop', await addressOfSession(running));
  await examples.done('record.list');
  const { id } = await examples.fact<{ id: string }>('record.resolve', {
    'selector=reviewer': 'selector=spoken',
  });
  const variables = { RECORD_ID: id };
  await examples.done('record.rename', {}, { variables });
  await examples.done('record.setTask', { '"expectedRevision":1': '"expectedRevision":0' }, { variables });
  await waitFor('the hub to know the record', () => knows(hub.ask('records.show', { recordId: id })));
  await examples.done('records.show', {}, { variables });
  await examples.done('record.resume', {}, { variables });
  const { id: again } = await nodeRequest(hub.owner, 'laptop', 'session.resolve', { selector: 'reviewer' });
  await nodeRequest(hub.owner, 'laptop', 'session.stop', await addressOfSession(again));
  await examples.done('record.forget', {}, { variables });
  await examples.done('record.index', { '"claude"': '"qwen"' });
}

async function worktrees({ leaseId, revision }: { leaseId: string; revision: string }): Promise<void> {
  const { id } = await hub.node('laptop');
  const variables = { LEASE_ID: leaseId };
  await examples.done('worktree.evidence', {}, { variables });
  await examples.done('worktree.cleanup', {}, { variables });
  await examples.refused('worktree.resolve', 'worktree-choice-refused', {}, { variables });
  await examples.done('worktree.spawn', {
    '0123456789abcdef': id,
    'launch-1': 'launch-3',
    '"profileId":"reviewer","expectedRevision":"1"}}': `"profileId":"reviewer","expectedRevision":"${revision}"}}`,
  });
}

/** Nothing that an agent keeps itself is on this machine. */
async function history(): Promise<void> {
  await examples.done('history.list');
  const variables = { HISTORY_ID: '0123456789abcdef' };
  for (const name of ['history.resolve', 'history.preview', 'history.read', 'history.adopt'])
    await examples.refused(name, 'unknown-history-session', {}, { variables });
  await examples.done('events.read');
}

async function theLists(): Promise<void> {
  for (const name of ['sessions.list', 'records.list', 'workspaces.list', 'attention.list'])
    await examples.done(name);
}

async function theEnd(): Promise<void> {
  const [node, itself] = [await hub.nodePid(), await hub.hubPid()];
  await examples.done('node.shutdown');
  await waitFor('the node to end', () => !isAlive(node));
  await examples.done('hub.shutdown');
  await waitFor('the hub to end', () => !isAlive(itself));
}

function putProfile(kind: string, profile: object): void {
  mkdirSync(join(hub.home, 'profiles', kind), { recursive: true, mode: 0o700 });
  writeFileSync(join(hub.home, 'profiles', kind, 'reviewer.json'), JSON.stringify(profile));
}

function ownVersion(): string {
  const text = readFileSync(new URL('../../packages/cli/package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** A session as the examples name one. */
async function named(
  selector: string,
): Promise<{ readonly real: Real; readonly variables: Record<string, string> }> {
  const { id, workspaceId, generation } = await nodeRequest(hub.owner, 'laptop', 'session.resolve', {
    selector,
  });
  await waitFor('the hub to know the session', () => knows(hub.ask('sessions.show', { sessionId: id })));
  return {
    real: {
      '"workspaceId":"shop"': `"workspaceId":"${workspaceId}"`,
      '"generation":1': `"generation":${generation}`,
    },
    variables: { SESSION_ID: id },
  };
}

async function addressOfSession(sessionId: string) {
  const found = await nodeRequest(hub.owner, 'laptop', 'session.resolve', { selector: sessionId });
  const { id, workspaceId, generation } = found;
  return { sessionId: id, workspaceId, generation };
}

function knows(asked: Promise<unknown>): Promise<boolean> {
  return asked.then(
    () => true,
    () => false,
  );
}
