import { describe, expect, it } from 'vitest';
import {
  CAPABILITIES,
  ConnectionId,
  FailureError,
  OFFERED_CAPABILITIES,
  OPERATIONS,
  Projection,
  type Capability,
  type OperationName,
} from '@roost/protocol';
import { pino } from 'pino';
import { Admission } from './admission.ts';
import { ControllerLease } from './controller-lease.ts';
import type { Caller, Handlers } from './handlers.ts';

const ALL = Object.keys(OPERATIONS) as OperationName[];
const withAccess = (access: string) => ALL.filter((name) => OPERATIONS[name].access === access);
const EVERY_CAPABILITY = Object.keys(CAPABILITIES) as Capability[];

function makeScene(options: { capabilities?: readonly Capability[]; answer?: () => unknown } = {}) {
  const reached: string[] = [];
  const answer = options.answer ?? (() => ({}));
  const handlers = Object.fromEntries(
    ALL.map((name) => [
      name,
      () => {
        reached.push(name);
        return answer();
      },
    ]),
  ) as unknown as Handlers;
  const lease = new ControllerLease({
    monotonicNow: () => 0,
    publishHolder: () => undefined,
    publishEnd: () => undefined,
    schedule: () => () => undefined,
  });
  const admission = new Admission({
    handlers,
    lease,
    log: pino({ enabled: false }),
    checkResults: false,
  });
  const caller = (connectionId: number, role: Caller['role'] = 'operator'): Caller => ({
    connectionId: ConnectionId.parse(connectionId),
    role,
    clientName: `client ${connectionId}`,
    projection: new Projection(options.capabilities ?? EVERY_CAPABILITY),
    terminals: { open: () => Promise.reject(new Error('no terminals here')), close: () => undefined },
    lanes: {
      followEvents: () => undefined,
      resyncEvents: () => undefined,
      watchScreens: () => undefined,
      followOutput: () => undefined,
    },
    signal: new AbortController().signal,
  });
  const ask = async (who: Caller, operation: string, more: { lease?: 'brief'; params?: unknown } = {}) => {
    try {
      await admission.admit({ operation, params: more.params ?? {}, ...more }, who).answer;
      return 'done';
    } catch (error) {
      if (error instanceof FailureError) return error.failure.code;
      throw error;
    }
  };
  return { admission, lease, caller, ask, reached };
}

describe('an observer', () => {
  it.each([...withAccess('operator'), ...withAccess('controller')])('may not %s', async (operation) => {
    const { ask, caller, lease, reached } = makeScene();
    for (const brief of [{}, { lease: 'brief' as const }])
      expect(await ask(caller(1, 'observer'), operation, brief)).toBe('observer-read-only');
    // Not even on a connection that somehow held the lease.
    lease.acquire(caller(1), 0, false);
    expect(await ask(caller(1, 'observer'), operation)).toBe('observer-read-only');
    expect(reached).toEqual([]);
  });

  it.each(withAccess('observer'))('may %s', async (operation) => {
    const { ask, caller } = makeScene();
    expect(['done', 'invalid-request']).toContain(await ask(caller(1, 'observer'), operation));
  });
});

describe('with two controllers and one lease', () => {
  it.each(withAccess('controller'))('%s is refused to the one without it', async (operation) => {
    const { ask, caller, lease, reached } = makeScene();
    lease.acquire(caller(1), 0, false);
    expect(await ask(caller(2), operation)).toBe('controller-required');
    expect(await ask(caller(2), operation, { lease: 'brief' })).toBe('controller-busy');
    expect(reached).toEqual([]);
    expect(['done', 'invalid-request']).toContain(await ask(caller(1), operation));
  });

  it.each(withAccess('controller'))('%s needs the lease, or asks for it briefly', async (operation) => {
    const { ask, caller, lease, reached } = makeScene();
    expect(await ask(caller(1), operation)).toBe('controller-required');
    expect(reached).toEqual([]);
    expect(['done', 'invalid-request']).toContain(await ask(caller(1), operation, { lease: 'brief' }));
    expect(lease.state).toBeNull();
  });

  it('says who holds it to whoever may not act, before it looks at what was asked', async () => {
    const { ask, caller } = makeScene();
    expect(await ask(caller(1, 'observer'), 'session.stop', { params: { nonsense: true } })).toBe(
      'observer-read-only',
    );
    expect(await ask(caller(1), 'session.stop', { params: { nonsense: true } })).toBe('controller-required');
    expect(await ask(caller(1), 'session.stop', { params: { nonsense: true }, lease: 'brief' })).toBe(
      'invalid-request',
    );
  });
});

describe('capabilities', () => {
  const gated = ALL.filter((name) => OPERATIONS[name].capability !== null);

  it.each(gated)(
    '%s is refused to a peer without its capability, before anything else',
    async (operation) => {
      const { ask, caller, reached } = makeScene({
        capabilities: EVERY_CAPABILITY.filter((one) => one !== OPERATIONS[operation].capability),
      });
      expect(await ask(caller(1, 'observer'), operation)).toBe('unsupported-capability');
      expect(reached).toEqual([]);
    },
  );

  it('of parameters are asked for before the handler runs', async () => {
    const { ask, caller, reached } = makeScene({
      capabilities: OFFERED_CAPABILITIES.filter((one) => one !== 'session-bundle-materialization-v1'),
    });
    const spec = (overrides: object) => ({
      target: { nodeId: '0123456789abcdef', workspaceId: 'w' },
      profileId: 'p',
      expectedRevision: 'r',
      deadlineMs: 1_000,
      idempotencyKey: 'k',
      overrides,
    });
    const submit = (overrides: object) =>
      ask(caller(1), 'spawn.submit', { params: spec(overrides), lease: 'brief' });
    expect(await submit({ bundle: { kind: 'set', value: 'b' } })).toBe('unsupported-capability');
    expect(reached).toEqual([]);
    expect(await submit({ bundle: { kind: 'clear' } })).toBe('done');
    expect(await submit({})).toBe('done');
  });

  it('that the node offers are those that something uses', () => {
    // Metadata is what every peer of this version speaks; prompts and open providers are gates of their own.
    const used = new Set(ALL.map((name) => OPERATIONS[name].capability));
    const none = new Projection([]);
    const lacking = (name: OperationName, params: unknown) => none.lacks(OPERATIONS[name].params, params);
    used.add(lacking('node.snapshot', { changedAfter: 1 }));
    used.add(lacking('workspace.readFile', { path: 'a' }));
    used.add(lacking('history.list', { cursor: 'c' }));
    used.add(lacking('spawn.submit', { target: { worktreeId: 'w' } }));
    used.add(lacking('session.spawn', { launch: { kind: 'provider', provider: 'claude', options: {} } }));
    for (const capability of OFFERED_CAPABILITIES) {
      const inSchemas = [
        'compatibility.metadata',
        'provider-id.open-v1',
        'child-environment-profile-v1',
        'session-bundle-materialization-v1',
        'history-context-pack-v1',
        'agent-progress-snapshot-v1',
      ].includes(capability);
      expect(used.has(capability) || inSchemas, capability).toBe(true);
    }
  });

  it('hide from a reply what slipped through, instead of telling it', async () => {
    const { ask, caller } = makeScene({
      capabilities: EVERY_CAPABILITY.filter((one) => one !== 'provider-id.open-v1'),
      answer: () => ({ provider: 'shell' }),
    });
    expect(await ask(caller(1), 'record.resolve', { params: { selector: 'a' } })).toBe(
      'unsupported-capability',
    );
  });
});

describe('a node that stops', () => {
  it('refuses what would change something, and still answers who looks', async () => {
    const { admission, ask, caller, lease } = makeScene();
    lease.acquire(caller(1), 0, false);
    await admission.stop(1_000);
    for (const operation of [...withAccess('controller'), ...withAccess('operator')])
      expect(await ask(caller(1), operation)).toBe('shutting-down');
    for (const operation of withAccess('observer'))
      expect(['done', 'invalid-request']).toContain(await ask(caller(1), operation));
  });
});

it('does not know an operation that is not in the table', async () => {
  const { ask, caller } = makeScene();
  expect(await ask(caller(1), 'node.explode')).toBe('unknown-operation');
  expect(await ask(caller(1), 'toString')).toBe('unknown-operation');
});
