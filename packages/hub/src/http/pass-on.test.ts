import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  FailureError,
  HubScope,
  SessionId,
  SessionName,
  WorkspaceId,
  type AuditEntry,
} from '@roost/protocol';
import { NODE_A, TestHub } from '../hub-for-test.ts';

let hub: TestHub;
let token: string;
beforeEach(async () => {
  hub = await TestHub.start();
  token = hub.token('ann', 'operator');
});
afterEach(() => hub.stop());

const stop = (headers: Record<string, string> = {}) =>
  hub.ask('POST', `/api/v1/nodes/alpha/sessions/${'1'.repeat(16)}/stop`, {
    token,
    headers,
    body: { workspaceId: 'web', generation: 1 },
  });
const audit = async (): Promise<AuditEntry[]> =>
  ((await hub.ask('GET', '/api/v1/audit', { isLocal: true })).json as { entries: AuditEntry[] }).entries;

describe('an operation of a node', () => {
  it('goes to the node as it was given, and its answer comes back', async () => {
    hub.fleet.answer = () => ({ forced: true });
    expect(await stop()).toMatchObject({ status: 200, json: { forced: true } });
    const params = { sessionId: '1'.repeat(16), workspaceId: 'web', generation: 1 };
    expect(hub.fleet.asked).toEqual([{ nodeId: NODE_A, request: { operation: 'session.stop', params } }]);
    const lines = await hub.ask(
      'GET',
      `/api/v1/nodes/${NODE_A}/sessions/${'1'.repeat(16)}/screen?scrollback=5`,
      { token },
    );
    expect(lines.status).toBe(200);
    expect(hub.fleet.asked[1]?.request.params).toEqual({ sessionId: '1'.repeat(16), scrollback: 5 });
  });

  it('is refused as the node refuses it', async () => {
    hub.fleet.answer = () => {
      throw new FailureError('stale-generation', { generation: 3 });
    };
    expect(await stop()).toMatchObject({
      status: 409,
      json: { code: 'stale-generation', details: { generation: 3 } },
    });
    hub.fleet.put({
      ...hub.fleet.find('alpha'),
      link: { state: 'offline', since: '2026-01-01T00:00:00.000Z', reason: 'unreachable', attempts: 3 },
    });
    expect(await stop()).toMatchObject({ status: 503, json: { code: 'node-offline' } });
  });

  it('is asked only of the start of the node that is meant, in the time that is given', async () => {
    const incarnation = '1'.repeat(16);
    for (const headers of [{ 'if-match': `"${incarnation}"` }, { 'x-roost-incarnation': incarnation }])
      expect((await stop(headers)).status).toBe(200);
    expect(await stop({ 'if-match': `"${'2'.repeat(16)}"` })).toMatchObject({
      status: 412,
      json: { code: 'stale-incarnation' },
    });
    expect((await stop({ 'x-roost-deadline-ms': '1500' })).status).toBe(200);
    expect(hub.fleet.asked.map(({ request }) => [request.incarnation, request.timeoutMs])).toEqual([
      [incarnation, undefined],
      [incarnation, undefined],
      [undefined, 1_500],
    ]);
    for (const headers of [
      { 'if-match': '*' },
      { 'x-roost-incarnation': 'x' },
      { 'if-match': `"${incarnation}"`, 'x-roost-incarnation': '2'.repeat(16) },
      { 'x-roost-deadline-ms': '0' },
      { 'x-roost-deadline-ms': '99999999' },
      { 'x-roost-deadline-ms': 'soon' },
    ] as Record<string, string>[])
      expect((await stop(headers)).status).toBe(400);
  });

  it('that changes something is in the audit log before it is asked, and after', async () => {
    let before: AuditEntry[] = [];
    hub.fleet.answer = async () => {
      before = await audit();
      return {};
    };
    const answer = await stop();
    expect(before).toMatchObject([
      { phase: 'asked', outcome: null, actor: 'ann', operation: 'session.stop', nodeId: NODE_A },
    ]);
    expect(await audit()).toMatchObject([
      { phase: 'answered', outcome: 'done', requestId: answer.headers['x-request-id'], from: '127.0.0.1' },
      { phase: 'asked', target: { sessionId: '1'.repeat(16), workspaceId: 'web' } },
    ]);
    hub.fleet.answer = () => {
      throw new FailureError('unknown-session');
    };
    await stop();
    expect((await audit())[0]).toMatchObject({ phase: 'answered', outcome: 'unknown-session' });
    const count = (await audit()).length;
    await hub.ask('GET', '/api/v1/nodes/alpha/sessions', { token });
    expect(await audit()).toHaveLength(count);
  });

  it('is not done when the audit log cannot be written', async () => {
    const database = new Database(join(hub.home, 'hub.db'));
    database.exec("CREATE TRIGGER no_audit BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END");
    database.close();
    expect((await stop()).status).toBeGreaterThanOrEqual(500);
    expect(hub.fleet.asked).toEqual([]);
    expect((await hub.ask('GET', '/api/v1/nodes/alpha/sessions', { token })).status).toBe(200);
  });
});

describe('an answer to somebody with a part of the node', () => {
  it('holds that part', async () => {
    const own = { id: '1'.repeat(16), workspaceId: 'own' };
    const foreign = { id: '2'.repeat(16), workspaceId: 'foreign' };
    const bob = hub.token('bob', 'operator', HubScope.parse([{ nodeId: NODE_A, workspaceIds: ['own'] }]));
    const ask = async (path: string, result: unknown) => {
      hub.fleet.answer = () => result;
      return (await hub.ask('GET', `/api/v1/nodes/alpha/${path}`, { token: bob })).json;
    };
    expect(await ask('sessions', { sessions: [own, foreign], truncated: false })).toEqual({
      sessions: [own],
      truncated: false,
    });
    expect(await ask('records', { records: [foreign], truncated: true })).toEqual({
      records: [],
      truncated: true,
    });
    expect(await ask('workspaces', { workspaces: [{ id: 'own' }, { id: 'foreign' }] })).toEqual({
      workspaces: [{ id: 'own' }],
    });
    hub.fleet.putSession(NODE_A, { ...own, name: SessionName.parse('x') });
    expect(await ask('session?selector=x', own)).toEqual(own);
    expect(await ask('launches/k', { state: 'accepted', receipt: { session: foreign } })).toEqual({
      state: 'unknown',
    });
    const events = [
      { body: { kind: 'session-changed', session: own } },
      { body: { kind: 'session-changed', session: foreign } },
      { body: { kind: 'worktree-profiles-changed', profiles: [] } },
    ];
    expect(await ask('events', { events, floor: 0, last: 3 })).toEqual({
      events: [events[0]],
      floor: 0,
      last: 3,
    });
  });

  it('tells nothing of the other parts when something is looked for by name', async () => {
    const bob = hub.token('bob', 'operator', HubScope.parse([{ nodeId: NODE_A, workspaceIds: ['own'] }]));
    const failureFor = async (path: string) => {
      const { status, json } = await hub.ask('GET', `/api/v1/nodes/alpha/${path}`, { token: bob });
      const { code, details } = json as { code: string; details: object };
      return { status, code, details: Object.keys(details) };
    };
    for (const digit of ['5', '6']) {
      hub.fleet.putSession(NODE_A, {
        id: digit.repeat(16),
        workspaceId: 'foreign',
        name: SessionName.parse('secret'),
      });
      hub.fleet.putRecord(NODE_A, {
        id: digit.repeat(16),
        workspaceId: 'foreign',
        name: SessionName.parse('secret'),
      });
    }
    hub.fleet.putSession(NODE_A, {
      id: `55${'a'.repeat(14)}`,
      workspaceId: 'own',
      name: SessionName.parse('mine'),
    });
    const all = ['5', '6'].map((digit) => ({
      id: digit.repeat(16),
      workspaceId: 'foreign',
      name: 'secret',
      createdAt: '2026-01-01T00:00:00.000Z',
      status: 'running',
      activeSession: null,
    }));
    hub.fleet.answer = (_, { operation, params }) =>
      operation === 'session.list' || operation === 'record.list'
        ? { sessions: all, records: all, truncated: false }
        : { ...(params as object), workspaceId: 'own' };
    for (const kind of ['session', 'record'])
      for (const selector of ['secret', '6'.repeat(16), '66'])
        expect(await failureFor(`${kind}?selector=${selector}`)).toEqual(
          await failureFor(`${kind}?selector=nothing`),
        );
    // What would be ambiguous among all is one of theirs.
    const mine = await hub.ask('GET', '/api/v1/nodes/alpha/session?selector=55', { token: bob });
    expect(mine.json).toMatchObject({ selector: `55${'a'.repeat(14)}` });

    hub.fleet.answer = () => ({ workspaceId: 'foreign', entry: { workspaceId: 'foreign' } });
    const foreign = [
      await failureFor('history-entry?selector=abcd'),
      await failureFor(`history/${'a'.repeat(16)}`),
    ];
    hub.fleet.answer = (_, { operation }) => {
      throw operation === 'history.resolve'
        ? new FailureError('ambiguous-history-session', { selector: 'abcd', candidates: ['abcd1', 'abcd2'] })
        : new FailureError('history-unreadable', { historyId: 'a'.repeat(16) });
    };
    expect([
      await failureFor('history-entry?selector=abcd'),
      await failureFor(`history/${'a'.repeat(16)}`),
    ]).toEqual(foreign);
    expect(JSON.stringify(foreign)).toContain('unknown-history-session');
    // What a node finds out once it has the session says that it has it.
    for (const code of ['stale-history-cursor', 'history-too-large', 'internal-error'] as const) {
      hub.fleet.answer = () => {
        throw new FailureError(code, { historyId: 'a'.repeat(16) });
      };
      expect(await failureFor(`history/${'a'.repeat(16)}`)).toEqual(foreign[1]);
    }
    hub.fleet.answer = () => {
      throw new FailureError('backend-busy', { limit: 8 });
    };
    expect((await failureFor(`history/${'a'.repeat(16)}`)).code).toBe('backend-busy');

    // A whole id that leads elsewhere is as one that leads nowhere.
    hub.fleet.answer = (_, { params }) => {
      throw new FailureError('unknown-session', { sessionId: (params as { sessionId: string }).sessionId });
    };
    const stopAt = async (sessionId: string) =>
      (
        await hub.ask('POST', `/api/v1/nodes/alpha/sessions/${sessionId}/stop`, {
          token: bob,
          body: { workspaceId: 'own', generation: 1 },
        })
      ).json;
    expect(await stopAt('6'.repeat(16))).toMatchObject({
      code: 'unknown-session',
      details: { sessionId: '6'.repeat(16) },
    });
    expect(await stopAt('9'.repeat(16))).toMatchObject({
      code: 'unknown-session',
      details: { sessionId: '9'.repeat(16) },
    });
    hub.fleet.answer = () => {
      throw new FailureError('session-workspace-mismatch', { sessionId: '9'.repeat(16) });
    };
    expect(await stopAt('9'.repeat(16))).toMatchObject({ code: 'unknown-session' });
  });

  it.each([
    ['session', 'session.resolve'],
    ['record', 'record.resolve'],
  ] as const)('finds the own %s that a selector means', async (kind, operation) => {
    const bob = hub.token('bob', 'operator', HubScope.parse([{ nodeId: NODE_A, workspaceIds: ['own'] }]));
    const put = (id: string, name: string, createdAt: string, isLive: boolean, workspaceId = 'own') => {
      const facts = { id, name: SessionName.parse(name), createdAt, workspaceId };
      if (kind === 'session') hub.fleet.putSession(NODE_A, { ...facts, endedAt: isLive ? null : createdAt });
      else {
        const sessionId = SessionId.parse(id);
        const activeSession = { sessionId, workspaceId: WorkspaceId.parse(workspaceId), generation: 1 };
        hub.fleet.putRecord(NODE_A, { ...facts, activeSession: isLive ? activeSession : null });
      }
    };
    const at = (minute: number) => `2026-01-01T00:0${minute}:00.000Z`;
    put('1'.repeat(16), 'twice', at(1), true);
    put('2'.repeat(16), 'twice', at(2), false);
    put('3'.repeat(16), 'ended', at(4), false);
    put('4'.repeat(16), 'ended', at(3), false);
    put('5'.repeat(16), 'ended', at(5), true, 'foreign');
    hub.fleet.answer = (_, request) => ({ ...(request.params as object), workspaceId: 'own' });
    const found = async (selector: string) => {
      const { status } = await hub.ask('GET', `/api/v1/nodes/alpha/${kind}?selector=${selector}`, {
        token: bob,
      });
      const [asked, ...others] = hub.fleet.asked.splice(0);
      expect({ status, operation: asked?.request.operation, others }).toEqual({
        status: 200,
        operation,
        others: [],
      });
      return (asked?.request.params as { selector: string }).selector;
    };
    expect(await found('twice')).toBe('1'.repeat(16));
    expect(await found('2'.repeat(16))).toBe('2'.repeat(16));
    // The newest one; a live one of that name in another part is as if it were not there.
    expect(await found('ended')).toBe('3'.repeat(16));
    expect(await found('44')).toBe('4'.repeat(16));
  });

  it('asks the node for what the hub has not heard of, and nothing at all while the hub does not hear of it', async () => {
    const bob = hub.token('bob', 'operator', HubScope.parse([{ nodeId: NODE_A, workspaceIds: ['own'] }]));
    const thing = (digit: string, workspaceId: string) => ({
      id: digit.repeat(16),
      workspaceId,
      name: 'fresh',
      createdAt: '2026-01-01T00:00:00.000Z',
      status: 'running',
      activeSession: null,
    });
    const parts = [[thing('7', 'foreign')], [thing('8', 'own')]];
    hub.fleet.answer = (_, { operation, params }) => {
      if (operation === 'session.list') return { sessions: parts.flat(), truncated: false };
      if (operation !== 'record.list') return { ...(params as object), workspaceId: 'own' };
      const isFirst = !('after' in (params as object));
      return { records: parts[isFirst ? 0 : 1], truncated: isFirst };
    };
    const ask = (kind: string, headers: Record<string, string> = {}) =>
      hub.ask('GET', `/api/v1/nodes/alpha/${kind}?selector=fresh`, { token: bob, headers });
    for (const kind of ['session', 'record'])
      expect(await ask(kind)).toMatchObject({ status: 200, json: { selector: '8'.repeat(16) } });
    expect(hub.fleet.asked.map(({ request }) => [request.operation, request.params])).toEqual([
      ['session.list', { includeEnded: true }],
      ['session.resolve', { selector: '8'.repeat(16) }],
      ['record.list', {}],
      ['record.list', { after: '7'.repeat(16) }],
      ['record.resolve', { selector: '8'.repeat(16) }],
    ]);
    hub.fleet.asked.splice(0);
    hub.fleet.putSession(NODE_A, { id: '6'.repeat(16), workspaceId: 'foreign' });
    const answers = async (headers: Record<string, string>) => [
      await ask('session', headers),
      await ask('record', headers),
      ...(await Promise.all(
        ['6', '9'].map((digit) =>
          hub.ask('POST', `/api/v1/nodes/alpha/sessions/${digit.repeat(16)}/stop`, {
            token: bob,
            headers,
            body: { workspaceId: 'own', generation: 1 },
          }),
        ),
      )),
    ];
    const codes = (all: Awaited<ReturnType<typeof answers>>) =>
      new Set(all.map(({ json }) => (json as { code: string }).code));
    expect(codes(await answers({ 'x-roost-incarnation': '2'.repeat(16) }))).toEqual(
      new Set(['stale-incarnation']),
    );
    hub.fleet.put({
      ...hub.fleet.find('alpha'),
      link: { state: 'stale', since: '2026-01-01T00:00:00.000Z', reason: 'connection-lost', attempts: 1 },
    });
    expect(codes(await answers({}))).toEqual(new Set(['node-offline']));
    expect(hub.fleet.asked).toEqual([]);
  });
});
