import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FailureError, InviteId, NodeName, type NodeId } from '@roost/protocol';
import { nodeId, refusalOf, TestAccess } from './access-for-test.ts';

const MINUTE = 60_000;
const KEY = 'ab'.repeat(32);
const name = (text: string) => NodeName.parse(text);

let test: TestAccess;
let enrolments: number;
beforeEach(() => {
  test = new TestAccess();
  enrolments = 0;
});
afterEach(() => test.remove());

const create = (nodeName: string | null = null) =>
  test.access.invites.create({
    nodeName: nodeName === null ? null : name(nodeName),
    expiresInMs: 10 * MINUTE,
    createdBy: 'alice',
  });
const consume = (code: string, id: NodeId, key = KEY) =>
  test.access.invites.consume({ code, nodeId: id, key }, ({ nodeName }) => {
    enrolments += 1;
    const got = nodeName ?? name('own');
    test.nodes.insert({ id, name: got, way: 'calls-home', enrolledAt: test.now });
    return got;
  });

it('enrols one node, with the name that it gives or the own one', () => {
  const named = create('builder');
  expect(named.invite).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{16}$/),
    nodeName: 'builder',
    createdBy: 'alice',
    createdAt: '2030-01-01T12:00:30.000Z',
    expiresAt: '2030-01-01T12:10:30.000Z',
    usedBy: null,
  });
  expect(consume(named.code, nodeId(1))).toBe('builder');
  expect(consume(create().code, nodeId(2))).toBe('own');
  expect(test.nodes.list().map((node) => node.name)).toEqual(['builder', 'own']);
});

it('answers the same to the same node with the same key, and nothing to another, also after a new start', () => {
  const { code } = create('builder');
  consume(code, nodeId(1));
  test.reopen();
  expect(consume(code, nodeId(1))).toBe('builder');
  test.nodes.rename(nodeId(1), name('renamed'));
  expect(consume(code, nodeId(1))).toBe('renamed');
  expect(enrolments).toBe(1);
  expect(refusalOf(() => consume(code, nodeId(2)))).toBe('invite-invalid');
  expect(refusalOf(() => consume(code, nodeId(1), 'cd'.repeat(32)))).toBe('invite-invalid');
});

it('does not bring back a node that was removed', () => {
  const { code } = create('builder');
  consume(code, nodeId(1));
  test.nodes.remove(nodeId(1));
  expect(refusalOf(() => consume(code, nodeId(1)))).toBe('invite-invalid');
  expect(test.nodes.list()).toEqual([]);
});

it('ends after its time, used or not', () => {
  const [open, used] = [create('a'), create('b')];
  consume(used.code, nodeId(1));
  test.now += 10 * MINUTE - 1;
  expect(consume(used.code, nodeId(1))).toBe('b');
  test.now += 1;
  expect(refusalOf(() => consume(used.code, nodeId(1)))).toBe('invite-invalid');
  expect(refusalOf(() => consume(open.code, nodeId(2)))).toBe('invite-invalid');
  expect(refusalOf(() => consume('nonsense', nodeId(2)))).toBe('invite-invalid');
});

it('stays open when the enrolment fails, and nothing of that is kept', () => {
  const { code } = create('builder');
  const failing = () =>
    test.access.invites.consume({ code, nodeId: nodeId(1), key: KEY }, () => {
      test.nodes.insert({ id: nodeId(1), name: name('half'), way: 'calls-home', enrolledAt: 1 });
      throw new FailureError('name-taken');
    });
  expect(refusalOf(failing)).toBe('name-taken');
  expect(test.nodes.list()).toEqual([]);
  expect(consume(code, nodeId(2))).toBe('builder');
});

it('is taken back as long as it is open', () => {
  const [open, used] = [create('a'), create('b')];
  consume(used.code, nodeId(1));
  const { invites } = test.access;
  invites.revoke(open.invite.id);
  expect(refusalOf(() => consume(open.code, nodeId(2)))).toBe('invite-invalid');
  for (const id of [open.invite.id, used.invite.id, InviteId.parse('0'.repeat(16))])
    expect(refusalOf(() => invites.revoke(id))).toBe('invite-invalid');
});

it('is listed while it is open, and a day from its use', () => {
  const [open, used] = [create('a'), create('b')];
  consume(used.code, nodeId(1));
  const listed = () => test.access.invites.list().map(({ nodeName, usedBy }) => [nodeName, usedBy]);
  expect(listed().sort()).toEqual([
    ['a', null],
    ['b', nodeId(1)],
  ]);
  test.now = Date.parse(open.invite.expiresAt);
  expect(listed()).toEqual([['b', nodeId(1)]]);
  test.now += 86_400_000;
  expect(listed()).toEqual([]);
});

it('reserves the name that it gives', () => {
  const { invite } = create('builder');
  expect(refusalOf(() => create('builder'))).toBe('name-taken');
  test.access.invites.revoke(invite.id);
  consume(create('builder').code, nodeId(1));
  expect(refusalOf(() => create('builder'))).toBe('name-taken');
  test.nodes.remove(nodeId(1));
  expect(refusalOf(() => create('builder'))).toBeNull();
});

it('is stored without its code, and without the key', () => {
  const { code } = create('builder');
  consume(code, nodeId(1));
  test.reopen();
  const bytes = readFileSync(test.path);
  expect(bytes.includes('builder')).toBe(true);
  expect([bytes.includes(code), bytes.includes(KEY)]).toEqual([false, false]);
});
