import { afterEach, beforeEach, expect, it } from 'vitest';
import { Incarnation, NodeName } from '@roost/protocol';
import { nodeId, refusalOf, TestAccess } from '../access/access-for-test.ts';
import type { StoredView } from './node-table.ts';

let test: TestAccess;
beforeEach(() => {
  test = new TestAccess();
});
afterEach(() => test.remove());

const name = (text: string) => NodeName.parse(text);
const enrol = (number: number, text: string) =>
  test.nodes.insert({ id: nodeId(number), name: name(text), way: 'calls-home', enrolledAt: 5 });
const view = (number: number, sequence: number): StoredView => ({
  nodeId: nodeId(number),
  incarnation: Incarnation.parse('00000000000000aa'),
  sequence,
  seenAt: 7,
  version: '1.2.3',
  state: JSON.stringify({ sequence }),
});

it('lists the nodes by name, each name once', () => {
  enrol(1, 'b');
  enrol(2, 'a');
  expect(refusalOf(() => enrol(3, 'a'))).toBe('name-taken');
  expect(test.nodes.list()).toEqual([
    { id: nodeId(2), name: 'a', way: 'calls-home', enrolledAt: 5 },
    { id: nodeId(1), name: 'b', way: 'calls-home', enrolledAt: 5 },
  ]);
  expect(test.nodes.find(nodeId(2))).toMatchObject({ name: 'a' });
  expect(test.nodes.find(nodeId(3))).toBeNull();
});

it('gives a node another name, unless that is taken or there is no such node', () => {
  enrol(1, 'a');
  enrol(2, 'b');
  test.nodes.rename(nodeId(1), name('c'));
  test.nodes.rename(nodeId(1), name('c'));
  expect(refusalOf(() => test.nodes.rename(nodeId(1), name('b')))).toBe('name-taken');
  expect(refusalOf(() => test.nodes.rename(nodeId(3), name('d')))).toBe('unknown-node');
  expect(test.nodes.list().map((node) => node.name)).toEqual(['b', 'c']);
});

it('keeps the newest view of each node until the node is removed, and none of one that is not enrolled', () => {
  enrol(1, 'a');
  enrol(2, 'b');
  test.nodes.saveViews([view(1, 1), view(2, 9)]);
  test.nodes.saveViews([view(1, 2), view(3, 1)]);
  test.reopen();
  expect(test.nodes.readViews()).toEqual([view(1, 2), view(2, 9)]);
  test.nodes.remove(nodeId(1));
  test.nodes.remove(nodeId(1));
  expect(test.nodes.readViews()).toEqual([view(2, 9)]);
  expect(test.nodes.list().map(({ id }) => id)).toEqual([nodeId(2)]);
});
