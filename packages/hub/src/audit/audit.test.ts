import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeId, refusalOf, TestAccess, user } from '../access/access-for-test.ts';
import { LOCAL } from '../access/authenticate.ts';
import { Audit, type AuditedRequest } from './audit.ts';

let test: TestAccess;
let audit: Audit;
let lost: unknown[];
const openAudit = () =>
  new Audit({ store: test.store, now: () => test.now, onLost: (cause) => lost.push(cause) });
beforeEach(() => {
  test = new TestAccess();
  lost = [];
  audit = openAudit();
});
afterEach(() => test.remove());

const request = (part: Partial<AuditedRequest> = {}): AuditedRequest => ({
  requestId: 'request-1',
  actor: LOCAL,
  from: 'local',
  operation: 'users.create',
  nodeId: null,
  params: { name: 'bob', role: 'operator' },
  ...part,
});

describe('the audit log', () => {
  it('has a line before anything is done, and one with the outcome, each there at once', () => {
    audit.asked(request());
    test.reopen();
    audit = openAudit();
    const asked = {
      sequence: 1,
      at: '2030-01-01T12:00:30.000Z',
      requestId: 'request-1',
      phase: 'asked',
      actor: 'local',
      credential: null,
      from: 'local',
      operation: 'users.create',
      nodeId: null,
      target: { name: 'bob', role: 'operator' },
      outcome: null,
    };
    expect(audit.list({ limit: 10 })).toEqual({ entries: [asked], hasMore: false });
    test.now += 5;
    const later = audit.asked(request({ requestId: 'request-2' }));
    later('name-taken');
    later('done');
    expect(audit.list({ limit: 10 }).entries).toEqual([
      {
        ...asked,
        sequence: 3,
        at: '2030-01-01T12:00:30.005Z',
        requestId: 'request-2',
        phase: 'answered',
        outcome: 'name-taken',
      },
      { ...asked, sequence: 2, at: '2030-01-01T12:00:30.005Z', requestId: 'request-2' },
      asked,
    ]);
  });

  it('can be read whatever a newer node answers', () => {
    audit.asked(request())('a-code-that-is-yet-to-come');
    expect(audit.list({ limit: 1 }).entries[0]?.outcome).toBe('internal-error');
  });

  it('names whoever asked, and what they came with without its secret', () => {
    const bob = test.addUser('bob', 'operator');
    const { principal: withToken, secret } = test.tokenOf(bob);
    const { principal: inBrowser, cookie } = test.browserOf(bob);
    const actors: AuditedRequest['actor'][] = [
      LOCAL,
      withToken,
      inBrowser,
      { kind: 'node', nodeId: nodeId(7) },
      { kind: 'nobody' },
    ];
    for (const actor of actors) audit.asked(request({ actor, from: '10.0.0.1' }));
    const { entries } = audit.list({ limit: 10 });
    const idOf = ({ credential }: typeof withToken) => (credential.kind === 'socket' ? '' : credential.id);
    expect(entries.reverse().map(({ actor, credential }) => [actor, credential])).toEqual([
      ['local', null],
      ['bob', `token ${idOf(withToken)}`],
      ['bob', `cookie ${idOf(inBrowser)}`],
      [`node ${nodeId(7)}`, null],
      ['nobody', null],
    ]);
    for (const text of [secret, cookie]) expect(JSON.stringify(entries)).not.toContain(text);
  });

  it('is read in pages, the newest first, by who, where and what', () => {
    for (let number = 1; number <= 6; number += 1)
      audit.asked(
        request({
          requestId: `request-${number}`,
          operation: number % 2 === 0 ? 'session.stop' : 'session.spawn',
          nodeId: number > 3 ? nodeId(1) : null,
          actor: number === 6 ? { kind: 'nobody' } : LOCAL,
        }),
      );
    const listed = (filter: object) => {
      const { entries, hasMore } = audit.list({ limit: 10, ...filter });
      return [entries.map(({ sequence }) => sequence), hasMore];
    };
    expect(listed({ limit: 2 })).toEqual([[6, 5], true]);
    expect(listed({ limit: 2, before: 5 })).toEqual([[4, 3], true]);
    expect(listed({ limit: 2, before: 3 })).toEqual([[2, 1], false]);
    expect(listed({ operation: 'session.stop' })).toEqual([[6, 4, 2], false]);
    expect(listed({ nodeId: nodeId(1) })).toEqual([[6, 5, 4], false]);
    expect(listed({ actor: 'local', operation: 'session.stop', nodeId: nodeId(1) })).toEqual([[4], false]);
    expect(listed({ actor: user('carol') })).toEqual([[], false]);
  });

  it('can be neither changed nor shortened', () => {
    audit.asked(request())('done');
    const before = audit.list({ limit: 10 });
    for (const change of [
      "UPDATE audit SET actor = 'somebody'",
      "UPDATE audit SET outcome = 'done' WHERE sequence = 1",
      'DELETE FROM audit',
      'DELETE FROM audit WHERE sequence = 2',
    ])
      expect(() => test.store.sql.run(change)).toThrow('append-only');
    expect(audit.list({ limit: 10 })).toEqual(before);
  });

  it('stops what it cannot write down, and does not undo what is done', () => {
    const answered = audit.asked(request());
    test.store.sql.exec('PRAGMA query_only = 1');
    expect(refusalOf(() => audit.asked(request()))).toBe('storage-failed');
    answered('done');
    expect(lost).toHaveLength(1);
  });
});
