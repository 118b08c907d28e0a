import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { CAPABILITIES, OFFERED_CAPABILITIES, type Capability } from './capabilities.ts';
import { EventBody } from './events.ts';
import { gated, gatedWhole, noted, ProviderId } from './gates.ts';
import { RecordId } from './ids.ts';
import { OPERATIONS } from './operations/index.ts';
import { NodeSnapshot } from './operations/node.ts';
import { HIDDEN, Projection } from './projection.ts';
import { SessionRecord } from './session-record.ts';
import { Session } from './session.ts';
import { SpawnReceipt } from './spawn-spec.ts';

const EVERY = Object.keys(CAPABILITIES) as Capability[];
const all = new Projection(EVERY);
const none = new Projection([]);
const without = (...missing: Capability[]) => new Projection(EVERY.filter((one) => !missing.includes(one)));

const at = '2026-01-02T03:04:05.000Z';
const record: SessionRecord = SessionRecord.parse({
  id: '00000000000000b1',
  name: 'reviewer',
  provider: 'claude',
  transport: 'pty',
  state: 'dormant',
  workspaceId: 'w',
  workspaceRoot: '/w',
  directory: '/w',
  generation: 1,
  providerSession: { key: 'session-id', id: 'abc' },
  activeSession: null,
  environmentProfile: { profileId: 'e', revision: 'r1' },
  bundle: { id: 'b', revision: 'r1', digest: `sha256:${'0'.repeat(64)}` },
  context: { id: 'c', digest: `sha256:${'1'.repeat(64)}` },
  taskBinding: { revision: 1, taskId: `task-${'2'.repeat(24)}`, changedAt: at },
  createdAt: at,
  updatedAt: at,
  lastError: null,
});
const open: SessionRecord = {
  ...record,
  id: RecordId.parse('00000000000000b2'),
  provider: 'grok',
};
const snapshot = (records: SessionRecord[]): NodeSnapshot =>
  NodeSnapshot.parse({
    nodeId: '0000000000000001',
    incarnation: '0000000000000002',
    sequence: 5,
    controller: null,
    changedAfter: null,
    truncated: false,
    workspaces: [],
    sessions: [],
    records,
    removed: { workspaces: [], sessions: [], records: [] },
    enabledProviders: ['claude', 'grok'],
    providers: [],
    launchInventory: { spawnProfiles: [], bundles: [], environmentProfiles: [] },
    progress: [],
  });

describe('a projection', () => {
  it('passes on the very value to a peer that knows everything', () => {
    const whole = snapshot([record, open]);
    expect(all.show(NodeSnapshot, whole)).toBe(whole);
  });

  it.each([
    ['child-environment-profile-v1', 'environmentProfile'],
    ['session-bundle-materialization-v1', 'bundle'],
    ['history-context-pack-v1', 'context'],
    ['session-task-correlation-v1', 'taskBinding'],
  ] as const)('without %s empties %s alone, in reply, snapshot and event alike', (capability, field) => {
    const expected = { ...record, [field]: null };
    const peer = without(capability);
    expect(peer.show(SessionRecord, record)).toEqual(expected);
    expect(peer.show(OPERATIONS['record.resume'].result.shape.record, record)).toEqual(expected);
    expect(peer.show(EventBody, { kind: 'record-changed', record })).toEqual({
      kind: 'record-changed',
      record: expected,
    });
    const seen = peer.show(NodeSnapshot, snapshot([record]));
    expect(seen !== HIDDEN && seen.records).toEqual([expected]);
    expect(record[field]).not.toBeNull();
  });

  it('leaves out of the snapshot what can be launched or is told to others only', () => {
    const seen = none.show(NodeSnapshot, snapshot([record])) as NodeSnapshot;
    expect(seen.launchInventory).toEqual({});
    expect(seen).not.toHaveProperty('progress');
    expect(seen).not.toHaveProperty('providers');
  });

  it('hides whatever belongs to an open provider from peers that do not know open ones', () => {
    const peer = without('provider-id.open-v1');
    const seen = peer.show(NodeSnapshot, snapshot([record, open])) as NodeSnapshot;
    expect(seen.records.map((one) => one.provider)).toEqual(['claude']);
    expect(seen.enabledProviders).toEqual(['claude']);
    expect(peer.show(SessionRecord, open)).toBe(HIDDEN);
    expect(peer.show(EventBody, { kind: 'record-changed', record: open })).toBe(HIDDEN);
    expect(peer.show(EventBody, { kind: 'record-changed', record })).not.toBe(HIDDEN);
    // The provider goes with the event: the last events of something that is gone are judged as the first.
    const { id: recordId } = record;
    expect(peer.show(EventBody, { kind: 'record-removed', recordId, provider: 'grok' })).toBe(HIDDEN);
    expect(peer.show(EventBody, { kind: 'record-removed', recordId, provider: 'kimi' })).not.toBe(HIDDEN);
  });

  it('hides events of a kind that the peer does not know', () => {
    const event: EventBody = { kind: 'spawn-profiles-changed', profiles: [] };
    expect(without('spawn-spec.defaults-overrides-v1').show(EventBody, event)).toBe(HIDDEN);
    expect(all.show(EventBody, event)).toBe(event);
  });

  it('never leaves a value of a missing capability behind, whatever the capabilities', () => {
    const values = [
      [NodeSnapshot, snapshot([record, open])],
      [EventBody, { kind: 'record-changed', record: open }],
      [SessionRecord, record],
    ] as const;
    fc.assert(
      fc.property(fc.subarray(EVERY), fc.constantFrom(...values), (granted, [schema, value]) => {
        const peer = new Projection(granted);
        const seen = peer.show(schema as z.ZodType, value);
        // What is shown needs nothing that the peer lacks, and showing it again changes nothing.
        expect(seen === HIDDEN || peer.lacks(schema, seen) === null).toBe(true);
        if (seen !== HIDDEN) expect(peer.show(schema as z.ZodType, seen)).toBe(seen);
      }),
    );
  });

  it('says which capability a value needs', () => {
    expect(none.lacks(SessionRecord, { ...record, provider: 'grok' })).toBe('provider-id.open-v1');
    expect(without('history-context-pack-v1').lacks(SessionRecord, record)).toBe('history-context-pack-v1');
    expect(without('history-context-pack-v1').lacks(SessionRecord, { ...record, context: null })).toBeNull();
    expect(new Projection(OFFERED_CAPABILITIES).lacks(SessionRecord, open)).toBeNull();
  });

  it('hides what is only noted in a value, and lets the value be used by whoever does not see that', () => {
    const note = z.string();
    const thing = z.object({ id: z.string(), note: noted('git-read-v1', note.nullable().optional()) });
    const value = { id: 'a', note: 'abc' };
    expect(none.show(thing, value)).toEqual({ id: 'a', note: null });
    expect(none.lacks(thing, value)).toBeNull();
    expect(none.mayHide(thing)).toBeNull();
    const session = { provider: 'claude', baseCommit: '0'.repeat(40) };
    expect(without('git-read-v1').lacks(Session, session)).toBeNull();
  });

  it('says whether it hides some of a kind, so that nothing can be found out by asking', () => {
    for (const schema of [Session, SessionRecord, SpawnReceipt]) {
      expect(none.mayHide(schema)).toBe('provider-id.open-v1');
      expect(all.mayHide(schema)).toBeNull();
    }
  });

  it('says whether a peer sees everything as it is', () => {
    expect(all.showsAll(EventBody)).toBe(true);
    expect(new Projection(OFFERED_CAPABILITIES).showsAll(EventBody)).toBe(true);
    for (const capability of ['session-task-correlation-v1', 'provider-id.open-v1'] as const)
      expect(without(capability).showsAll(EventBody)).toBe(false);
    expect(without('event-journal-v1').showsAll(EventBody)).toBe(true);
  });

  it('empties a place that may be empty, and gives up an object that cannot be without its part', () => {
    const part = gatedWhole('git-read-v1', z.object({ a: z.int() }));
    const value = { part: { a: 1 } };
    expect(none.show(z.object({ part: part.nullable() }), value)).toEqual({ part: null });
    expect(none.show(z.object({ part }), value)).toBe(HIDDEN);
    expect(none.show(z.object({ parts: z.array(part) }), { parts: [{ a: 1 }] })).toEqual({ parts: [] });
    expect(none.show(z.record(z.string(), part), { x: { a: 1 } })).toEqual({});
    expect(none.show(z.object({ provider: ProviderId.nullable() }), { provider: 'x' })).toBe(HIDDEN);
    const optional = gated('git-read-v1', z.int().optional());
    expect(none.show(z.object({ optional }), { optional: 1 })).toEqual({});
  });
});
