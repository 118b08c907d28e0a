import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { failure, HubId, NodeId, NodeName } from '@roost/protocol';
import { NodeKeys } from '../access/node-keys.ts';
import { NodeTable } from '../store/node-table.ts';
import { Store } from '../store/store.ts';
import { Nodes } from './nodes.ts';
import { TestSockets } from './sockets-for-test.ts';

const NODE = NodeId.parse('a'.repeat(16));
const ENROLMENT = {
  nodeId: NODE,
  name: NodeName.parse('build'),
  isNameFixed: true,
  key: 'ab'.repeat(32),
};

let directory: string;
let store: Store;
let keys: NodeKeys;
let nodes: Nodes;
let table: NodeTable;
let sockets: TestSockets;
const log = vi.fn<(message: string, facts: Readonly<Record<string, unknown>>) => void>();

beforeEach(() => {
  log.mockClear();
  directory = mkdtempSync(join(tmpdir(), 'roost-nodes-'));
  store = Store.open(join(directory, 'hub.db'));
  keys = new NodeKeys(directory);
  table = new NodeTable(store);
  nodes = newNodes();
  sockets = new TestSockets();
});
afterEach(async () => {
  nodes.close();
  await sockets.close();
  store.close();
  rmSync(directory, { recursive: true, force: true });
});

function newNodes(): Nodes {
  return new Nodes({
    hubId: HubId.parse('b'.repeat(16)),
    run: 'c'.repeat(16),
    table,
    keys,
    version: '0.0.0-test',
    now: () => Date.parse('2030-01-01T12:00:00.000Z'),
    random: () => 0,
    log,
  });
}

/** As at the next start of the hub, without a node beside it. */
function startAnew(): void {
  nodes.close();
  nodes = newNodes();
  nodes.begin(null);
}

it('shows nothing of whoever calls in the name of a node and does not prove it, and counts them', async () => {
  nodes.enrol(ENROLMENT);
  const before = nodes.find('build');
  const told: unknown[] = [];
  nodes.onEvent((event) => told.push(event));
  for (const answer of ['unauthorized', 'unsupported-protocol'] as const) {
    const { near, far } = await sockets.pair();
    far.once('message', () => far.send(JSON.stringify({ kind: 'refused', failure: failure(answer) })));
    nodes.calledHome(NODE, null, near, () => {
      throw new Error('it was believed');
    });
  }
  await expect
    .poll(() => [...nodes.failedCalls])
    .toEqual([
      ['unauthorized', 1],
      ['unsupported-protocol', 1],
    ]);
  expect(nodes.find('build')).toEqual(before);
  expect(told).toEqual([]);
  // A line in the log now and then: they can make as many calls as they like.
  expect(log).toHaveBeenCalledTimes(1);
  expect(log.mock.lastCall).toEqual([
    'a call of a node came to nothing',
    { nodeId: NODE, untold: 0, failure: 'unauthorized' },
  ]);
});

it('is as if nothing had been when an enrolment cannot be stored', () => {
  expect(() =>
    store.transact(() => {
      nodes.enrol(ENROLMENT);
      throw new Error('the disk is full');
    }),
  ).toThrow('the disk is full');
  expect(nodes.nodes()).toEqual([]);
  expect(keys.read(NODE)).toBeNull();
  expect(nodes.enrol(ENROLMENT)).toBe('build');
  expect(nodes.nodes().map(({ name }) => name)).toEqual(['build']);
  expect(keys.read(NODE)).not.toBeNull();
  // A name that is taken is another way to fail.
  const other = { ...ENROLMENT, nodeId: NodeId.parse('d'.repeat(16)) };
  expect(() => nodes.enrol(other)).toThrow(/name/);
  expect(keys.read(other.nodeId)).toBeNull();
});

it('keeps the key of a node that is enrolled and cannot be served, and serves it again with that key', () => {
  nodes.enrol(ENROLMENT);
  const key = keys.read(NODE);
  const file = join(directory, 'nodes', NODE);
  chmodSync(file, 0o644);
  startAnew();
  expect(nodes.nodes()).toEqual([]);
  for (const enrolment of [ENROLMENT, { ...ENROLMENT, name: NodeName.parse('other') }])
    for (const one of [enrolment, { ...enrolment, key: 'cd'.repeat(32) }])
      expect(() => nodes.enrol(one)).toThrow('already-enrolled');
  chmodSync(file, 0o600);
  expect(keys.read(NODE)).toBe(key);
  expect(() => nodes.enrol({ ...ENROLMENT, key: 'cd'.repeat(32) })).toThrow('already-enrolled');
  expect(nodes.nodes()).toEqual([]);
  expect(nodes.enrol(ENROLMENT)).toBe('build');
  expect(nodes.nodes().map(({ name }) => name)).toEqual(['build']);
  expect(keys.read(NODE)).toBe(key);
});

it('ends the enrolment of a node that it cannot serve, which can then be enrolled anew', () => {
  nodes.enrol(ENROLMENT);
  chmodSync(join(directory, 'nodes', NODE), 0o644);
  const beside = NodeId.parse('e'.repeat(16));
  table.insert({ id: beside, name: NodeName.parse('local'), way: 'dialled', enrolledAt: 0 });
  startAnew();
  expect(() => nodes.enrol({ ...ENROLMENT, nodeId: beside })).toThrow('already-enrolled');
  expect(keys.read(beside)).toBeNull();
  const told: unknown[] = [];
  nodes.onEvent(({ nodeId, body }) => told.push([nodeId, body.kind]));
  for (const selector of ['build', beside.slice(0, 4)]) {
    expect(() => nodes.find(selector)).toThrow('unknown-node');
    nodes.remove(nodes.findEnrolled(selector));
    expect(() => nodes.findEnrolled(selector)).toThrow('unknown-node');
  }
  expect(told).toEqual([
    [NODE, 'node-removed'],
    [beside, 'node-removed'],
  ]);
  expect(keys.read(NODE)).toBeNull();
  expect(() => nodes.remove(NODE)).toThrow('unknown-node');
  for (const nodeId of [NODE, beside])
    nodes.enrol({ ...ENROLMENT, nodeId, isNameFixed: false, key: 'cd'.repeat(32) });
  expect(nodes.nodes().map(({ name }) => name)).toEqual(['build', 'build-2']);
});
