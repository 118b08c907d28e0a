import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  FailureError,
  Incarnation,
  NodeId,
  OFFERED_CAPABILITIES,
  type FailureCode,
  type HubEventBody,
  type HubNode,
  type NodeEvent,
} from '@roost/protocol';
import { emptySnapshot, FakeConnection, INCARNATION, NODE_ID } from './connection-for-test.ts';
import { NodeLink, requireConnection, type LinkOptions } from './link.ts';
import { View } from './view.ts';

const AT = '2026-01-01T00:00:00.000Z';
const opened: NodeLink[] = [];

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  for (const link of opened.splice(0)) link.close();
  vi.useRealTimers();
});

interface Opened {
  readonly link: NodeLink;
  readonly told: HubEventBody['kind'][];
  readonly states: string[];
  resyncs: number;
}

function open(options: Partial<LinkOptions> = {}): Opened {
  const told: Opened['told'] = [];
  const states: string[] = [];
  const link: NodeLink = new NodeLink({
    nodeId: NODE_ID,
    view: null,
    seenAt: null,
    dial: null,
    now: Date.now,
    random: () => 0.999,
    onEvent: ({ kind }) => told.push(kind),
    onState: () => states.push(`${link.link.state}:${link.link.reason ?? ''}`),
    onResync: () => {
      all.resyncs += 1;
    },
    log: () => undefined,
    ...options,
  });
  const all: Opened = { link, told, states, resyncs: 0 };
  opened.push(link);
  return all;
}

/** Everything that waits for nothing but its turn. */
const settle = () => vi.advanceTimersByTimeAsync(0);

const stopped = (sequence: number, incarnation = INCARNATION): NodeEvent => ({
  sequence,
  incarnation,
  at: AT,
  body: { kind: 'node-stopped', incarnation },
});

/** A view as it was stored. */
function keptView(sequence: number): View {
  return View.of(emptySnapshot({ sequence }), '1.0.0');
}

/** Dials these one after the other; a code is a refusal. */
function dialling(...outcomes: (FakeConnection | FailureCode)[]): {
  readonly dial: () => Promise<FakeConnection['line']>;
  readonly times: number[];
} {
  const times: number[] = [];
  const dial = (): Promise<FakeConnection['line']> => {
    times.push(Date.now());
    const outcome = outcomes.shift() ?? 'node-not-running';
    return typeof outcome === 'string'
      ? Promise.reject(new FailureError(outcome))
      : Promise.resolve(outcome.line);
  };
  return { dial, times };
}

test('a node that was never seen is read whole, then followed from there', async () => {
  const connection = new FakeConnection({ 'node.snapshot': () => emptySnapshot({ sequence: 5 }) });
  const { link, states, told } = open();
  expect(link.link).toMatchObject({ state: 'connecting', reason: 'never-connected' });
  void link.adopt(connection.line);
  await settle();
  expect(states).toEqual(['online:']);
  expect(connection.asked.map(({ operation }) => operation)).toEqual([
    'node.snapshot',
    'interaction.list',
    'events.subscribe',
  ]);
  expect(connection.asked.at(-1)?.params).toEqual({ sequence: 5, incarnation: INCARNATION });
  connection.tell(stopped(5));
  connection.tell(stopped(6));
  connection.tell(stopped(6));
  expect(told).toEqual(['node-stopped']);
  expect(link.view.cursor?.sequence).toBe(6);
});

test('a view that was kept is shown as stale, and only what came since is asked for', async () => {
  const connection = new FakeConnection();
  const { link, states } = open({ view: keptView(41), seenAt: 1_000 });
  expect(link.link.state).toBe('stale');
  expect(link.seenAt).toBe(1_000);
  void link.adopt(connection.line);
  await settle();
  expect(states).toEqual(['online:']);
  expect(connection.asked).toEqual([
    { operation: 'interaction.list', params: {} },
    { operation: 'events.subscribe', params: { sequence: 41, incarnation: INCARNATION } },
  ]);
});

test('what a node of an earlier build does not offer is not asked of it', async () => {
  const connection = new FakeConnection();
  Object.assign(connection, {
    capabilities: OFFERED_CAPABILITIES.filter((one) => one !== 'agent-conversation-v1'),
  });
  const { link } = open();
  void link.adopt(connection.line);
  await settle();
  expect(link.link.state).toBe('online');
  expect(connection.asked.map(({ operation }) => operation)).not.toContain('interaction.list');
});

test('where the journal is not held any more, everything is read anew and nothing is told twice', async () => {
  let sequence = 9;
  const connection = new FakeConnection({ 'node.snapshot': () => emptySnapshot({ sequence }) });
  const all = open({ view: keptView(3) });
  void all.link.adopt(connection.line);
  await settle();
  sequence = 20;
  connection.requireResync();
  // While that is read: one that is in it, one that is not.
  connection.tell(stopped(20));
  connection.tell(stopped(21));
  expect(all.told).toEqual([]);
  await settle();
  expect(all.resyncs).toBe(1);
  expect(all.told).toEqual(['node-stopped']);
  expect(all.link.view.cursor?.sequence).toBe(21);
});

test('events that wait for a view are held by their bytes as well: a line that sends more ends', async () => {
  const { link } = open({ view: keptView(0) });
  const connection = new FakeConnection({ 'node.snapshot': () => new Promise(() => undefined) });
  void link.adopt(connection.line);
  await settle();
  connection.requireResync();
  for (let sequence = 1; sequence <= 16; sequence += 1) connection.tell(stopped(sequence), 1024 * 1024);
  expect(connection.isClosed).toBe(false);
  connection.tell(stopped(17), 1);
  expect(connection.isClosed).toBe(true);
});

test('a lost line is stale for a minute, then offline; the view stays', async () => {
  const connection = new FakeConnection({ 'node.snapshot': () => emptySnapshot({ sequence: 5 }) });
  const { link, states } = open();
  void link.adopt(connection.line);
  await settle();
  connection.close();
  await settle();
  expect(states.at(-1)).toBe('stale:connection-lost');
  expect(link.connection).toBeNull();
  expect(link.seenAt).toBe(Date.now());
  await vi.advanceTimersByTimeAsync(59_999);
  expect(link.link.state).toBe('stale');
  await vi.advanceTimersByTimeAsync(1);
  expect(states.at(-1)).toBe('offline:connection-lost');
  expect(link.view.cursor?.sequence).toBe(5);
});

test('the start of a node is that of the line, before its own event tells it', async () => {
  const incarnation = Incarnation.parse('2'.repeat(16));
  const { link } = open({ view: keptView(41) });
  expect(link.incarnation).toBe(INCARNATION);
  void link.adopt(new FakeConnection({}, { incarnation, version: '2.0.0' }).line);
  await settle();
  expect(link.incarnation).toBe(incarnation);
  expect(link.version).toBe('2.0.0');
});

test('dialling goes on with growing pauses; only a line that has lasted makes them short again', async () => {
  const brief = new FakeConnection();
  const lasting = new FakeConnection();
  const { dial, times } = dialling('node-not-running', 'node-unresponsive', brief, lasting);
  const { link, states } = open({ dial });
  link.begin(0);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(times).toHaveLength(3);
  expect(states).toEqual(['connecting:unreachable', 'connecting:unresponsive', 'online:']);
  brief.close();
  await settle();
  const lostAt = Date.now();
  await vi.advanceTimersByTimeAsync(1_900);
  expect(times).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(200);
  expect(times).toHaveLength(4);
  expect((times[3] ?? 0) - lostAt).toBeGreaterThan(1_900);
  expect(link.link).toMatchObject({ state: 'online', attempts: 0 });
  await vi.advanceTimersByTimeAsync(10_000);
  lasting.close();
  await vi.advanceTimersByTimeAsync(500);
  expect(times).toHaveLength(5);
  expect(link.link.attempts).toBe(1);
});

test.each<FailureCode>(['unauthorized', 'unsupported-protocol'])(
  'a node that answers %s is refused, and asked again rarely',
  async (code) => {
    const { dial, times } = dialling(...Array.from({ length: 10 }, () => code));
    const { link } = open({ dial });
    link.begin(0);
    await vi.advanceTimersByTimeAsync(29_000);
    expect(link.link.state).toBe('refused');
    expect(times).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(times).toHaveLength(2);
  },
);

test('another node in its place is refused, and nothing of it is taken', async () => {
  const other = new FakeConnection({}, { id: NodeId.parse('b'.repeat(16)) });
  const { link } = open({ view: keptView(4) });
  await link.adopt(other.line);
  expect(link.link).toMatchObject({ state: 'refused', reason: 'identity-changed' });
  expect(other.isClosed).toBe(true);
  expect(other.asked).toEqual([]);
});

test('a new line takes the place of the old one; what the old one still says does not count', async () => {
  const [first, second] = [new FakeConnection(), new FakeConnection()];
  const { link, told, states } = open();
  void link.adopt(first.line);
  await settle();
  void link.adopt(second.line);
  await settle();
  expect(first.isClosed).toBe(true);
  expect(link.connection).toBe(second);
  // Until its view is live, the new one is not relied on.
  expect(states).toEqual(['online:', 'stale:connection-lost', 'online:']);
  first.tell(stopped(1));
  expect(told).toEqual([]);
  second.tell(stopped(1));
  expect(told).toEqual(['node-stopped']);
});

test('nothing is told and nothing dialled once it is closed', async () => {
  const connection = new FakeConnection();
  const { dial, times } = dialling(connection);
  const { link, states } = open({ dial });
  link.begin(0);
  await settle();
  link.close();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(connection.isClosed).toBe(true);
  expect(states).toEqual(['online:']);
  expect(times).toHaveLength(1);
  const late = new FakeConnection();
  await link.adopt(late.line);
  expect(late.isClosed).toBe(true);
});

test('nothing is asked of a node that is not there, or that has started anew', async () => {
  const { link } = open();
  const node = { id: NODE_ID, link: link.link } as HubNode;
  const codeOf = (incarnation?: string): string | null => {
    try {
      requireConnection(link, node, incarnation);
      return null;
    } catch (error) {
      return error instanceof FailureError ? error.failure.code : 'other';
    }
  };
  expect(codeOf()).toBe('node-offline');
  void link.adopt(new FakeConnection().line);
  await settle();
  expect(codeOf()).toBeNull();
  expect(codeOf(INCARNATION)).toBeNull();
  expect(codeOf('3'.repeat(16))).toBe('stale-incarnation');
});
