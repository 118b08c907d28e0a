/**
 * A hub with two nodes of one machine: `local` beside it, which it dials, and `far`, which joined with an invitation and calls over a line
 * that can be cut.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { connectThroughHub, hubRequest, nodeRequest, type HubTarget } from '@roost/client';
import {
  API_PREFIX,
  FailureError,
  INCARNATION_HEADER,
  WorkspaceId,
  type AuditEntry,
  type NodeId,
  type PlacedSession,
} from '@roost/protocol';
import { CuttableLine } from '../support/cuttable-line.ts';
import { HubHome, type TokenTarget } from '../support/hub-home.ts';
import { RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

const PROFILE = { revision: 'one', provider: 'shell' };

const hub = new HubHome();
const far = new RoostHome();
/** A machine without a node, from which one works with a token. */
const desk = new RoostHome();
let line: CuttableLine;
let farId: NodeId;
let localId: NodeId;
let operator: TokenTarget;
let farPid = 0;

beforeAll(async () => {
  await hub.up();
  line = await CuttableLine.to(hub.port);
  mkdirSync(join(far.home, 'profiles', 'spawn'), { recursive: true, mode: 0o700 });
  writeFileSync(join(far.home, 'profiles', 'spawn', 'plain.json'), JSON.stringify(PROFILE));
  await far.ok(['up', '--no-hub']);
  const { code } = await hub.ask('invites.create', {});
  expect(await far.ok(['node', 'join', line.url, code, '--name', 'far'])).toContain('as far; online');
  farId = (await hub.link('far', 'online')).id;
  localId = (await hub.link('local', 'online')).id;
  farPid = await far.nodePid();
  operator = await hub.user('operator', 'operator');
});
afterAll(async () => {
  await Promise.all([hub, far, desk].map((one) => one[Symbol.asyncDispose]()));
  await line[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await Promise.all([hub.link('far', 'online'), hub.link('local', 'online')]);
});

it('lists the sessions of all nodes, and reaches each by NODE/NAME, --node and a terminal', async () => {
  await hub.run('near-one', ['cat']);
  await hub.ok(['--node', 'far', 'run', '--detach', '--name', 'far-one', '--cwd', far.work, '--', 'cat']);
  const rows = await hub.json<PlacedSession[]>(['ls']);
  expect(rows.map(({ name, nodeName }) => `${nodeName}/${name}`)).toEqual(
    expect.arrayContaining(['local/near-one', 'far/far-one']),
  );
  // The same from a machine that is logged in.
  await desk.ok(['login', hub.url], { input: `${operator.token}\n` });
  expect(await desk.ok(['ls'])).toMatch(/far\s.*far-one/);

  const driver = desk.terminal(['attach', 'far/far-one']);
  driver.type('from the desk\r');
  await driver.shows(/from the desk\s+from the desk/);
  const watcher = hub.terminal(['attach', '--watch', 'far/far-one']);
  await watcher.shows(/from the desk/);
  watcher.type('nobody reads this\r');
  const second = hub.terminal(['attach', 'far-one']);
  await second.shows(/from the desk/);
  second.type('\x1ct');
  second.type('taken over\r');
  await Promise.all([driver, watcher, second].map((one) => one.shows(/taken over\s+taken over/)));
  expect(await watcher.text()).not.toContain('nobody reads this');
  for (const one of [driver, watcher, second]) one.type('\x1cd');
  expect(await Promise.all([driver, watcher, second].map((one) => one.ended()))).toEqual([0, 0, 0]);

  expect(await desk.ok(['logs', 'far/far-one', '--screen'])).toContain('taken over');
  await desk.ok(['stop', 'far/far-one']);
  await hub.ok(['stop', 'local/near-one']);
});

it('loses no session when a node or the hub itself dies, and says meanwhile that it is not up to date', async () => {
  const { session } = await spawnFar('survivor');
  process.kill(farPid, 'SIGKILL');
  const lost = await hub.link('far', 'stale');
  expect(lost.link.reason).toBe('connection-lost');
  expect((await hub.ask('sessions.list', { node: 'far' })).sessions).toContainEqual(
    expect.objectContaining({ id: session, status: 'running' }),
  );
  expect(await hub.ok(['ls'])).toMatch(/far \(stale\)\s.*survivor/);
  expect(await failureOf(nodeRequest(operator, farId, 'node.status', {}))).toBe('node-offline');
  await far.ok(['up', '--no-hub']);
  farPid = await far.nodePid();
  const back = await hub.link('far', 'online');
  expect(back.incarnation).not.toBe(lost.incarnation);
  expect((await nodeRequest(operator, farId, 'node.status', {})).incarnation).toBe(back.incarnation);
  expect((await hub.ask('sessions.show', { sessionId: session })).status).toBe('running');

  // Views are kept every few seconds.
  line.cut();
  await hub.link('far', 'stale');
  await hub.end('SIGTERM');
  await hub.restart();
  operator = { ...operator, url: hub.url };
  expect(await hub.node('far')).toMatchObject({ link: { state: 'stale' }, incarnation: back.incarnation });
  expect((await hub.ask('sessions.show', { sessionId: session })).status).toBe('running');
  line.mend(hub.port);
  await hub.link('far', 'online', 30_000);

  await hub.end('SIGKILL');
  await hub.restart();
  operator = { ...operator, url: hub.url };
  line.mend(hub.port);
  await Promise.all([hub.link('far', 'online', 30_000), hub.link('local', 'online')]);
  const { sessions } = await nodeRequest(operator, farId, 'session.list', {});
  expect(sessions).toContainEqual(expect.objectContaining({ id: session, status: 'running' }));
});

it('shows that a node hangs, and ends the lines to it, until it goes on', async () => {
  const relayed = await connect(operator, localId);
  const ended = new Promise<void>((resolve) => void relayed.onClose(resolve));
  const pid = await hub.nodePid();
  process.kill(pid, 'SIGSTOP');
  try {
    // It keeps its sockets: nothing but its silence tells.
    await hub.link('local', 'stale', 30_000);
    await ended;
    expect(await failureOf(nodeRequest(operator, localId, 'node.status', {}))).toBe('node-offline');
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await hub.link('local', 'online', 30_000);
  expect((await nodeRequest(operator, localId, 'node.status', {})).pid).toBe(pid);
});

it('lets an observer look and not act, and a workspace scope end at the workspace', async () => {
  const { session, workspaceId } = await spawnFar('looked-at');
  const other = join(far.root, 'other');
  mkdirSync(other, { recursive: true });
  const hidden = await spawnFar('not-looked-at', other);
  expect(hidden.workspaceId).not.toBe(workspaceId);

  const observer = await hub.user('observer', 'observer');
  await desk.ok(['login', hub.url], { input: `${observer.token}\n` });
  const watcher = desk.terminal(['attach', '--watch', 'far/looked-at']);
  await watcher.shows(/ready/);
  watcher.type('\x1cd');
  expect(await watcher.ended()).toBe(0);
  const acting: Promise<unknown>[] = [
    nodeRequest(observer, farId, 'session.sendKey', { sessionId: session, key: 'enter' } as never),
    nodeRequest(observer, farId, 'session.stop', { sessionId: session, workspaceId, generation: 1 }),
    hubRequest(observer, 'invites.create', {}),
    hubRequest(observer, 'audit.list', {}),
  ];
  expect(await Promise.all(acting.map(failureOf))).toEqual(acting.map(() => 'forbidden'));
  const looking = await connect(observer, farId);
  expect(await failureOf(looking.request('terminal.open', { sessionId: session, mode: 'drive' }))).toMatch(
    /^(forbidden|observer-read-only)$/,
  );
  expect(await failureOf(looking.request('node.shutdown', {}))).toBe('forbidden');

  const narrow = await hub.user('narrow', 'operator', [
    { nodeId: farId, workspaceIds: [WorkspaceId.parse(workspaceId)] },
  ]);
  const narrowly = await connect(narrow, farId);
  const seen = [
    (await hubRequest(narrow, 'sessions.list', {})).sessions,
    (await nodeRequest(narrow, farId, 'session.list', {})).sessions,
    (await narrowly.request('session.list', {})).sessions,
    (await narrowly.request('node.snapshot', {})).sessions,
  ];
  for (const sessions of seen) {
    expect(sessions.map(({ id }) => id)).toContain(session);
    expect(new Set(sessions.map((one) => one.workspaceId))).toEqual(new Set([workspaceId]));
  }
  expect((await hubRequest(narrow, 'nodes.list', {})).nodes.map(({ name }) => name)).toEqual(['far']);
  const refused: Promise<unknown>[] = [
    nodeRequest(narrow, farId, 'session.readScreen', { sessionId: hidden.session }),
    narrowly.request('terminal.open', { sessionId: hidden.session, mode: 'watch' }),
    nodeRequest(narrow, localId, 'node.status', {}),
    connect(narrow, localId),
  ];
  for (const code of await Promise.all(refused.map(failureOf)))
    expect(code).toMatch(/^(out-of-scope|unknown-session|unknown-node)$/);

  // Without its token, an open line ends.
  const ended = new Promise<void>((resolve) => void looking.onClose(resolve));
  await hub.ask('tokens.revoke', { tokenId: observer.id });
  await ended;
  expect(await failureOf(hubRequest(observer, 'me.show', {}))).toBe('unauthenticated');
  narrowly.close();
});

it('tells the audit log of what is changed, through HTTP and through lines', async () => {
  const { session, workspaceId } = await spawnFar('audited');
  const relayed = await connect(operator, farId);
  await relayed.request('session.stop', {
    sessionId: session,
    workspaceId,
    generation: 1,
    force: true,
  });
  relayed.close();
  const lines = await waitFor('the lines', async () => {
    const entries = await hub.json<AuditEntry[]>(['hub', 'audit', '--lines', '50']);
    const ours = entries.filter(
      ({ operation, target }) => operation === 'session.stop' && target.sessionId === session,
    );
    return ours.length === 2 && { entries, ours };
  });
  expect(lines.ours.map(({ phase, outcome }) => [phase, outcome])).toEqual([
    ['answered', 'done'],
    ['asked', null],
  ]);
  expect(lines.ours[0]).toMatchObject({ actor: 'operator', nodeId: farId, from: '127.0.0.1' });
  expect(lines.entries).toContainEqual(
    expect.objectContaining({ operation: 'session.spawn', actor: 'operator', outcome: 'done' }),
  );
  expect(JSON.stringify(lines.entries)).not.toContain(far.root);
  expect(JSON.stringify(lines.entries)).not.toContain(operator.token);
});

it('refuses what is meant for another start of a node', async () => {
  const asked = async (incarnation: string) => {
    const response = await fetch(`${hub.url}${API_PREFIX}/nodes/far/status`, {
      headers: { authorization: `Bearer ${operator.token}`, [INCARNATION_HEADER]: incarnation },
    });
    return { status: response.status, body: await response.json() };
  };
  const { incarnation } = await hub.node('far');
  expect(await asked(incarnation ?? '')).toMatchObject({ status: 200, body: { incarnation } });
  expect(await asked('0123456789abcdef')).toMatchObject({ body: { code: 'stale-incarnation' } });
});

it('says that an outcome is not known when the link is cut under a launch, and the same key tells it', async () => {
  await spawnFar('holds-a-keeper');
  const { workspaces } = await nodeRequest(operator, farId, 'workspace.list', {});
  const spec = {
    target: { nodeId: farId, workspaceId: workspaces[0]?.id ?? '' },
    profileId: 'plain',
    expectedRevision: PROFILE.revision,
    deadlineMs: 20_000,
    idempotencyKey: 'cut-under-it',
  };
  const launch = () => nodeRequest(operator, farId, 'spawn.submit', spec);
  const keepers = far.keeperPids();
  const result = () => nodeRequest(operator, farId, 'spawn.result', { idempotencyKey: spec.idempotencyKey });
  for (const pid of keepers) process.kill(pid, 'SIGSTOP');
  try {
    const cut = failureOf(launch());
    await waitFor('the launch to be under way', async () => (await result()).state === 'pending');
    line.cut();
    expect(await cut).toBe('outcome-unknown');
  } finally {
    for (const pid of keepers) process.kill(pid, 'SIGCONT');
  }
  line.mend();
  await hub.link('far', 'online', 30_000);
  const receipt = await launch();
  expect(await result()).toEqual({ state: 'accepted', receipt });
  expect(await launch()).toEqual(receipt);
  const { sessions } = await nodeRequest(operator, farId, 'session.list', {});
  expect(sessions.filter(({ provider }) => provider === 'shell')).toHaveLength(1);
  const { entries } = await hub.ask('audit.list', { operation: 'spawn.submit', node: 'far' });
  expect(entries.map(({ outcome }) => outcome)).toEqual([
    'done',
    null,
    'done',
    null,
    'outcome-unknown',
    null,
  ]);
});

/** A session of the far node that says that it is ready, in a directory there. */
async function spawnFar(
  name: string,
  directory = far.work,
): Promise<{ readonly session: PlacedSession['id']; readonly workspaceId: string }> {
  const { id, workspaceId } = await nodeRequest(operator, farId, 'session.spawn', {
    directory,
    name,
    launch: { kind: 'command', command: ['sh', '-c', 'echo ready; exec cat'] },
  });
  await waitFor('the hub to know the session', async () =>
    hub.ask('sessions.show', { sessionId: id }).then(
      ({ status }) => status === 'running',
      () => false,
    ),
  );
  return { session: id, workspaceId };
}

function connect(target: HubTarget, node: NodeId) {
  return connectThroughHub(target, { node, client: { name: 'test', version: '0' } });
}

async function failureOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof FailureError) return error.failure.code;
    throw error;
  }
  return 'none';
}
