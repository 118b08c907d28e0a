// Who may do what, for every operation of both tables.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  API_PREFIX,
  HUB_OPERATIONS,
  HubRole,
  HubScope,
  hubReach,
  includesRole,
  NODE_ROUTES,
  OPERATIONS,
  WorkspaceId,
  type HttpRoute,
  type HubOperationName,
  type OperationName,
} from '@roost/protocol';
import { isHubMutation, isNodeMutation } from '../access/mutations.ts';
import { NODE_A, NODE_B, TestHub } from '../hub-for-test.ts';
import { sampleParams } from './sample-params-for-test.ts';
import { hasBody, pathNames } from './read-params.ts';

const OWN = {
  workspaceId: 'own',
  sessionId: '1'.repeat(16),
  recordId: '2'.repeat(16),
  leaseId: `wt-${'3'.repeat(16)}`,
  interactionId: '4'.repeat(24),
};
const FOREIGN = {
  workspaceId: 'foreign',
  sessionId: '5'.repeat(16),
  recordId: '6'.repeat(16),
  leaseId: `wt-${'7'.repeat(16)}`,
  interactionId: '8'.repeat(24),
};

let hub: TestHub;
const tokens = new Map<string, string>();

beforeAll(async () => {
  hub = await TestHub.start({ checkResults: false });
  const { fleet } = hub;
  for (const { workspaceId, sessionId, recordId, interactionId } of [OWN, FOREIGN]) {
    fleet.putWorkspace(NODE_A, workspaceId);
    fleet.putSession(NODE_A, { id: sessionId, workspaceId });
    fleet.putRecord(NODE_A, { id: recordId, workspaceId });
    fleet.putInteraction(interactionId as never, {
      nodeId: NODE_A,
      workspaceId: WorkspaceId.parse(workspaceId),
    });
  }
  fleet.answer = answered;
  for (const role of HubRole.options) tokens.set(role, hub.token(role, role));
  tokens.set('other-node', hub.token('other-node', 'operator', [{ nodeId: NODE_B, workspaceIds: null }]));
  tokens.set('whole-node', hub.token('whole-node', 'operator', [{ nodeId: NODE_A, workspaceIds: null }]));
  tokens.set(
    'workspace',
    hub.token(
      'workspace',
      'operator',
      HubScope.parse([{ nodeId: NODE_A, workspaceIds: [OWN.workspaceId, OWN.leaseId] }]),
    ),
  );
});
afterAll(() => hub.stop());
beforeEach(() => {
  hub.fleet.answer = answered;
  hub.fleet.asked.splice(0);
});

const answered = (): never => {
  throw new Error('answered');
};

const nodeOperations = Object.keys(OPERATIONS) as OperationName[];

/** What is asked for an operation: status, and whether a node was asked. */
async function ask(who: string, route: HttpRoute, params: Record<string, unknown>, node: string = NODE_A) {
  const inPath = new Set(pathNames(route.path));
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(name === 'node' ? node : String(params[name])),
  );
  const rest = Object.entries(params).filter(([name]) => !inPath.has(name));
  const query = new URLSearchParams();
  if (!hasBody(route.method))
    for (const [name, value] of rest)
      query.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  const token = tokens.get(who);
  const answer = await hub.ask(
    route.method,
    `${API_PREFIX}${path}${query.size === 0 ? '' : `?${query.toString()}`}`,
    {
      ...(token === undefined ? {} : { token }),
      ...(hasBody(route.method) ? { body: Object.fromEntries(rest) } : {}),
    },
  );
  return {
    status: answer.status,
    code: (answer.json as { code?: string } | undefined)?.code,
    asked: hub.fleet.asked.splice(0).length,
  };
}

describe.each(nodeOperations)('%s', (name) => {
  const route = NODE_ROUTES[name];
  const reach = hubReach(name);
  if (route === null || reach === 'never') {
    it('is on no route', () => {
      expect(Object.values(HUB_OPERATIONS).some((one) => (one.name as string) === name)).toBe(false);
    });
    return;
  }

  it('asks the node for whoever has the role, and for nobody else', async () => {
    const params = sampleParams(name, OWN);
    for (const role of HubRole.options) {
      const { status, code, asked } = await ask(role, route, params);
      if (includesRole(role, reach)) expect({ role, status, asked }).toEqual({ role, status: 500, asked: 1 });
      else expect({ role, status, code, asked }).toEqual({ role, status: 403, code: 'forbidden', asked: 0 });
    }
    expect(await ask('nobody', route, params)).toEqual({ status: 401, code: 'unauthenticated', asked: 0 });
  });

  it('asks no node outside of the scope', async () => {
    const params = sampleParams(name, OWN);
    const isAdmins = reach === 'admin';
    expect(await ask('other-node', route, params)).toMatchObject({ status: 403, asked: 0 });
    expect(await ask('whole-node', route, params)).toMatchObject(
      isAdmins ? { status: 403, asked: 0 } : { status: 500, asked: 1 },
    );
    // Whether a node is there is nobody's business who may not see it.
    const unseen = await ask('workspace', route, params, NODE_B);
    const unknown = await ask('workspace', route, params, 'c'.repeat(16));
    expect(unseen).toEqual(unknown);
  });

  it('reaches nothing in a workspace outside of the scope', async () => {
    if (FOUND_AMONG_THEIRS.has(name)) {
      const { workspaceId, sessionId, recordId } = FOREIGN;
      hub.fleet.answer = (_, { operation }) =>
        operation === 'session.list'
          ? { sessions: [{ id: sessionId, workspaceId }], truncated: false }
          : { records: [{ id: recordId, workspaceId }], truncated: false };
      const foreign = await ask('workspace', route, sampleParams(name, FOREIGN));
      expect(foreign).toMatchObject({ status: 404, asked: 1 });
      expect(await ask('workspace', route, { selector: '9'.repeat(16) })).toEqual(foreign);
      hub.fleet.answer = answered;
      expect(await ask('workspace', route, sampleParams(name, OWN))).toMatchObject({ status: 500, asked: 1 });
      return;
    }
    const { status, asked } = await ask('workspace', route, sampleParams(name, FOREIGN));
    const isOpen = FILTERED.has(name) || FOR_ANYBODY.has(name);
    expect({ status, asked }).toEqual(isOpen ? { status: 500, asked: 1 } : { status: 403, asked: 0 });
    const own = await ask('workspace', route, sampleParams(name, OWN));
    if (OF_THE_WHOLE_NODE.has(name)) expect(own).toMatchObject({ status: 403, asked: 0 });
    else expect(own).toMatchObject({ status: 500, asked: 1 });
  });
});

/** Written down once more, by hand: a change of `needs.ts` is to be seen here. */
const FILTERED = new Set<OperationName>([
  'node.snapshot',
  'workspace.list',
  'spawn.result',
  'worktree.profiles',
  'worktree.leases',
  'session.list',
  'record.list',
  'history.resolve',
  'history.preview',
  'history.read',
  'events.read',
]);
const FOUND_AMONG_THEIRS = new Set<OperationName>(['session.resolve', 'record.resolve']);
const FOR_ANYBODY = new Set<OperationName>(['controller.show', 'provider.list', 'profile.list']);
const OF_THE_WHOLE_NODE = new Set<OperationName>([
  'node.status',
  'node.shutdown',
  'provider.check',
  'workspace.register',
  'workspace.createStandalone',
  'worktree.create',
  'worktree.remove',
  'worktree.allocate',
  'host.browseDirectories',
  'session.spawn',
  'session.reportIdentity',
  'history.adopt',
]);

describe.each(Object.keys(HUB_OPERATIONS) as HubOperationName[])('%s', (name) => {
  const operation = HUB_OPERATIONS[name];
  const params = {
    node: 'none',
    sessionId: '9'.repeat(16),
    recordId: '9'.repeat(16),
    inviteId: '9'.repeat(16),
    tokenId: '9'.repeat(16),
    name: 'nobody',
  };
  const body = hasBody(operation.route.method) ? { unknown: 1 } : undefined;
  const path =
    API_PREFIX + operation.route.path.replace(/\{(\w+)\}/g, (_, one: keyof typeof params) => params[one]);

  it('is done for whoever has the role, and for nobody else', async () => {
    const needed =
      operation.role === 'public' ? null : operation.role === 'self' ? 'observer' : operation.role;
    for (const who of [...HubRole.options, 'nobody']) {
      const token = tokens.get(who);
      const { status, json } = await hub.ask(operation.route.method, path, {
        ...(token === undefined ? {} : { token }),
        body,
      });
      const isLet = needed === null || (who !== 'nobody' && includesRole(HubRole.parse(who), needed));
      const code = (json as { code?: string } | undefined)?.code;
      // With names that nobody has, or a body that is refused.
      if (isLet)
        expect({ who, refused: code === 'forbidden' || code === 'unauthenticated' }).toEqual({
          who,
          refused: false,
        });
      else expect({ who, status }).toEqual({ who, status: who === 'nobody' ? 401 : 403 });
    }
  });
});

it('counts as changes what is no GET, but for what only looks', () => {
  for (const [name, route] of Object.entries(NODE_ROUTES) as [OperationName, HttpRoute | null][])
    if (route !== null)
      expect({ name, changes: isNodeMutation(name) }).toEqual({ name, changes: route.method !== 'GET' });
  expect(isHubMutation('logins.create')).toBe(true);
});
