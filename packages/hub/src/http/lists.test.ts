import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HubScope, NodeId, NodeName, type Activity, type PlacedSession } from '@roost/protocol';
import { MemoryFleet } from '../fleet/fleet-for-test.ts';
import { NODE_A, NODE_B, TestHub } from '../hub-for-test.ts';

let hub: TestHub;
beforeEach(async () => {
  hub = await TestHub.start();
});
afterEach(() => hub.stop());

const id = (number: number) => number.toString(16).padStart(16, '0');
const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1_000).toISOString();
const activity = (state: Activity['state'], second: number): Activity => ({
  state,
  source: 'hooks',
  since: at(second),
  reason: state === 'blocked' ? 'question' : null,
  authority: null,
  detail: null,
});

interface Sessions {
  readonly sessions: PlacedSession[];
  readonly total: number;
  readonly next: string | null;
}
const list = async (query = ''): Promise<Sessions> =>
  (await hub.ask('GET', `/api/v1/sessions${query}`, { isLocal: true })).json as Sessions;
const ids = ({ sessions }: Sessions) => sessions.map((session) => Number.parseInt(session.id, 16));

describe('sessions', () => {
  it('come with those that wait for a person first, then the newest, however they changed', async () => {
    const { fleet } = hub;
    fleet.putSession(NODE_A, {
      id: id(1),
      workspaceId: 'w',
      createdAt: at(1),
      activity: activity('working', 1),
    });
    fleet.putSession(NODE_B, {
      id: id(2),
      workspaceId: 'w',
      createdAt: at(2),
      activity: activity('blocked', 9),
    });
    fleet.putSession(NODE_A, { id: id(3), workspaceId: 'w', createdAt: at(3) });
    fleet.putSession(NODE_A, { id: id(4), workspaceId: 'w', createdAt: at(4), endedAt: at(5) });
    expect(ids(await list())).toEqual([2, 3, 1]);
    expect(ids(await list('?status=all'))).toEqual([2, 4, 3, 1]);
    fleet.putSession(NODE_A, {
      id: id(1),
      workspaceId: 'w',
      createdAt: at(1),
      activity: activity('blocked', 5),
    });
    fleet.putSession(NODE_B, {
      id: id(2),
      workspaceId: 'w',
      createdAt: at(2),
      activity: activity('working', 9),
    });
    expect(ids(await list())).toEqual([1, 3, 2]);
    fleet.tell(NODE_A, { kind: 'session-removed', sessionId: id(3) as never, workspaceId: null });
    fleet.remove(NODE_B);
    expect(ids(await list())).toEqual([1]);
  });

  it('are read anew with their node', async () => {
    const { fleet } = hub;
    fleet.putSession(NODE_A, { id: id(1), workspaceId: 'w' });
    const { sessions } = fleet.view(NODE_A);
    const [session] = sessions.values();
    sessions.clear();
    sessions.set(id(2) as never, { ...session!, id: id(2) as never });
    fleet.tell(NODE_A, { kind: 'node-resynced' });
    expect(ids(await list())).toEqual([2]);
  });

  it('are found by everything that they can be found by', async () => {
    const { fleet } = hub;
    fleet.putSession(NODE_A, {
      id: id(0xabc),
      workspaceId: 'web',
      name: 'Review' as never,
      activity: activity('idle', 1),
    });
    fleet.putSession(NODE_B, { id: id(2), workspaceId: 'api', provider: 'codex' });
    for (const query of [
      '?node=alpha',
      '?workspaceId=web',
      '?state=idle',
      '?search=rEv',
      '?search=we',
      '?search=alph',
      `?search=${id(0xabc).slice(0, 14)}`,
    ])
      expect({ query, found: ids(await list(query)) }).toMatchObject({
        query,
        found: expect.arrayContaining([0xabc]) as number[],
      });
    expect(ids(await list('?provider=codex'))).toEqual([2]);
    expect(ids(await list('?search=nothing'))).toEqual([]);
    expect((await hub.ask('GET', '/api/v1/sessions?node=gamma', { isLocal: true })).status).toBe(404);
  });

  it('come in pages that miss and repeat nothing, although sessions come and go meanwhile', async () => {
    const { fleet } = hub;
    for (let number = 1; number <= 25; number += 1)
      fleet.putSession(NODE_A, { id: id(number), workspaceId: 'w', createdAt: at(number >> 1) });
    const seen: number[] = [];
    let cursor: string | null = '';
    for (let page = 0; cursor !== null; page += 1) {
      const answer: Sessions = await list(`?limit=10${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...ids(answer));
      cursor = answer.next;
      if (page > 0) continue;
      // The last of the page goes, and newer ones come: neither moves the pages that follow.
      fleet.tell(NODE_A, {
        kind: 'session-removed',
        sessionId: id(seen.at(-1)!) as never,
        workspaceId: null,
      });
      fleet.putSession(NODE_A, { id: id(99), workspaceId: 'w', createdAt: at(99) });
    }
    expect(new Set(seen).size).toBe(25);
    expect(seen).toHaveLength(25);
    for (const bad of ['x', Buffer.from('[1]').toString('base64url'), 'e30'])
      expect((await hub.ask('GET', `/api/v1/sessions?cursor=${bad}`, { isLocal: true })).status).toBe(400);
  });

  it('outside of the scope are not there', async () => {
    const { fleet } = hub;
    fleet.putSession(NODE_A, { id: id(1), workspaceId: 'own' });
    fleet.putSession(NODE_A, { id: id(2), workspaceId: 'foreign' });
    fleet.putSession(NODE_B, { id: id(3), workspaceId: 'own' });
    const token = hub.token('bob', 'observer', HubScope.parse([{ nodeId: NODE_A, workspaceIds: ['own'] }]));
    const read = async (path: string) => (await hub.ask('GET', `/api/v1/${path}`, { token })).json;
    expect(await read('sessions')).toMatchObject({ sessions: [{ id: id(1) }], total: 1 });
    expect(await read('sessions?node=beta')).toMatchObject({ code: 'out-of-scope' });
    for (const number of [2, 3, 4])
      expect(await read(`sessions/${id(number)}`)).toMatchObject({ code: 'unknown-session' });
    expect(await read(`sessions/${id(1)}`)).toMatchObject({ id: id(1), nodeName: 'alpha' });
    expect(await read('nodes')).toMatchObject({ nodes: [{ name: 'alpha', sessions: { live: 1 } }] });
    expect(await read('hub')).toMatchObject({ nodes: { enrolled: 1 }, sessions: { live: 1 } });
  });

  it('that wait for a person come with the longest wait first', async () => {
    const { fleet } = hub;
    fleet.putSession(NODE_A, {
      id: id(1),
      workspaceId: 'w',
      createdAt: at(9),
      activity: activity('blocked', 20),
    });
    fleet.putSession(NODE_B, {
      id: id(2),
      workspaceId: 'w',
      createdAt: at(1),
      activity: activity('blocked', 10),
    });
    fleet.putSession(NODE_B, { id: id(3), workspaceId: 'w', activity: activity('done', 15) });
    fleet.putSession(NODE_B, { id: id(4), workspaceId: 'w', activity: activity('working', 1) });
    fleet.putSession(NODE_B, {
      id: id(5),
      workspaceId: 'w',
      activity: activity('blocked', 1),
      endedAt: at(2),
    });
    const { json } = await hub.ask('GET', '/api/v1/attention', { isLocal: true });
    expect((json as Sessions).sessions.map((one) => Number.parseInt(one.id, 16))).toEqual([2, 3, 1]);
  });
});

it('lists records by their last change, and workspaces by node and id, in pages', async () => {
  const { fleet } = hub;
  for (let number = 1; number <= 3; number += 1)
    fleet.putRecord(NODE_A, { id: id(number), workspaceId: 'w', updatedAt: at(number) });
  fleet.putRecord(NODE_A, { id: id(1), workspaceId: 'w', updatedAt: at(9), state: 'unavailable' });
  const records = (await hub.ask('GET', '/api/v1/records?limit=2', { isLocal: true })).json as {
    records: { id: string }[];
    next: string;
  };
  expect(records.records.map((one) => one.id)).toEqual([id(1), id(3)]);
  expect(
    (await hub.ask('GET', `/api/v1/records?cursor=${records.next}`, { isLocal: true })).json,
  ).toMatchObject({ records: [{ id: id(2) }], total: 3, next: null });
  expect((await hub.ask('GET', '/api/v1/records?state=unavailable', { isLocal: true })).json).toMatchObject({
    total: 1,
  });
  for (const [node, workspace] of [
    [NODE_B, 'a'],
    [NODE_A, 'z'],
    [NODE_A, 'b'],
  ] as const)
    fleet.putWorkspace(node, workspace);
  const first = (await hub.ask('GET', '/api/v1/workspaces?limit=1', { isLocal: true })).json as {
    workspaces: { id: string }[];
    next: string;
  };
  const rest = (await hub.ask('GET', `/api/v1/workspaces?cursor=${first.next}`, { isLocal: true })).json as {
    workspaces: { id: string }[];
  };
  expect([...first.workspaces, ...rest.workspaces].map((one) => one.id)).toEqual(['b', 'z', 'a']);
});

it('answers who has a list already with nothing, until it is another', async () => {
  const first = await hub.ask('GET', '/api/v1/nodes', { isLocal: true });
  const etag = String(first.headers.etag);
  const again = await hub.ask('GET', '/api/v1/nodes', {
    isLocal: true,
    headers: { 'if-none-match': `"x", ${etag}` },
  });
  expect(again).toMatchObject({ status: 304, text: '' });
  hub.fleet.put({ id: NODE_A, name: NodeName.parse('other') });
  expect(
    (await hub.ask('GET', '/api/v1/nodes', { isLocal: true, headers: { 'if-none-match': etag } })).status,
  ).toBe(200);
});

it('lists ten thousand sessions of a thousand nodes', async () => {
  const fleet = new MemoryFleet(20_000);
  for (let node = 0; node < 1_000; node += 1) {
    const nodeId = NodeId.parse(id(node + 1));
    fleet.put({ id: nodeId, name: NodeName.parse(`node-${node}`) });
    for (let session = 0; session < 10; session += 1)
      fleet.putSession(nodeId, {
        id: id(node * 10 + session + 1),
        workspaceId: 'w',
        createdAt: at(node * 7919 + session),
      });
  }
  const large = await TestHub.start({ checkResults: false }, fleet);
  try {
    const { json } = await large.ask('GET', '/api/v1/sessions?limit=100&search=node-5', { isLocal: true });
    const { sessions, total } = json as Sessions;
    expect({ total, first: sessions[0]?.nodeName, listed: sessions.length }).toEqual({
      total: 1_110,
      first: 'node-599',
      listed: 100,
    });
  } finally {
    await large.stop();
  }
});
