// Every text field of everything that a node tells is filled with a text of its own, made from the schemas: what of it is held or told by a
// hub is what this file lists, and nothing else.
import { expect, test } from 'vitest';
import * as z from 'zod';
import {
  EventBody,
  FailureError,
  HubEvent,
  Interaction,
  NodeEvent,
  NodeSnapshot,
  Session,
  SessionRecord,
  Workspace,
  type HubEventBody,
} from '@roost/protocol';
import { FakeConnection, INCARNATION, NODE_ID } from './connection-for-test.ts';
import { EventRing } from './event-ring.ts';
import { faultOf } from './fault.ts';
import { NodeLink } from './link.ts';
import { View } from './view.ts';

const SESSION = [
  'id',
  'recordId',
  'name',
  'provider',
  'workspaceId',
  'createdAt',
  'endedAt',
  // Says which tool is asked about, or a code of the provider.
  'activity.since',
  'activity.detail',
];
const RECORD = [
  'id',
  'name',
  'provider',
  'workspaceId',
  'activeSession.workspaceId',
  'activeSession.sessionId',
  'createdAt',
  'updatedAt',
];
const WORKSPACE = ['id', 'createdAt', 'git.observedAt'];
const INTERACTION = [
  'id',
  'session.workspaceId',
  'session.sessionId',
  'provider',
  'tool',
  'askedAt',
  'expiresAt',
  'settledAt',
];
/** Texts of a snapshot and of events that a view holds or an event of the hub tells: ids, names, times, codes. */
const PASSES = {
  snapshot: [
    'incarnation',
    ...SESSION.map((path) => `sessions[].${path}`),
    ...RECORD.map((path) => `records[].${path}`),
    ...WORKSPACE.map((path) => `workspaces[].${path}`),
  ],
  interactions: ['id', 'session.sessionId', 'session.workspaceId'],
  events: [
    'node-started.version',
    ...WORKSPACE.map((path) => `workspace-registered.workspace.${path}`),
    ...WORKSPACE.map((path) => `workspace-changed.workspace.${path}`),
    'workspace-unregistered.workspaceId',
    ...SESSION.map((path) => `session-changed.session.${path}`),
    'session-removed.sessionId',
    ...RECORD.map((path) => `record-changed.record.${path}`),
    'record-removed.recordId',
    ...INTERACTION.map((path) => `interaction-changed.interaction.${path}`),
  ],
};

/** Makes values of a schema in which every text is another one, and remembers where each was put. */
class Canaries {
  readonly #places = new Map<string, string>();

  /** `turn`: which of several forms is taken, where there are several. */
  plant<Schema extends z.ZodType>(schema: Schema, place: string, turn = 0): z.output<Schema> {
    const value = this.#make(schema, place, turn);
    return schema.parse(value);
  }

  /** The places whose texts are in it. */
  foundIn(text: string, places: RegExp): string[] {
    const found = [...this.#places].filter(([canary, place]) => places.test(place) && text.includes(canary));
    return [...new Set(found.map(([, place]) => place))].sort();
  }

  #make(schema: z.ZodType, place: string, turn: number): unknown {
    const { def } = (schema as unknown as z.core.$ZodTypes)._zod;
    const into = (inner: unknown, where = place): unknown => this.#make(inner as z.ZodType, where, turn);
    switch (def.type) {
      case 'lazy':
        return into(def.getter());
      case 'nullable':
      case 'optional':
      case 'default':
      case 'prefault':
      case 'readonly':
        return into(def.innerType);
      case 'object':
        return Object.fromEntries(
          Object.entries(def.shape).map(([name, inner]) => [name, into(inner, `${place}.${name}`)]),
        );
      case 'array':
        return [into(def.element, `${place}[]`)];
      case 'record':
        return { [this.#text(z.string(), `${place}{}`)]: into(def.valueType, `${place}{}`) };
      case 'union':
        return into(def.options[turn % def.options.length]);
      case 'literal':
        return def.values[0];
      case 'enum': {
        const options = Object.values(def.entries);
        return options[turn % options.length];
      }
      case 'boolean':
        return true;
      case 'number':
        return [turn + 1, 1, 0].find((number) => schema.safeParse(number).success);
      case 'string':
        return this.#text(schema, place);
      default:
        throw new Error(`${place}: a ${def.type} is not known here`);
    }
  }

  #text(schema: z.ZodType, place: string): string {
    const number = String(this.#places.size).padStart(5, '0');
    const digits = (count: number) => `ca${number}`.padEnd(count, '0');
    const forms = [
      `canary ${number} of /etc/shadow`,
      `/home/canary-${number}`,
      `canary-${number}`,
      digits(16),
      digits(24),
      digits(40),
      digits(64),
      `sha256:${digits(64)}`,
      `task-${digits(24)}`,
      `wt-${digits(16)}`,
      `external-${digits(8)}`,
      new Date(Date.UTC(2026, 0, 1) + Number(number) * 60_000).toISOString(),
    ];
    const fits = forms.find((form) => schema.safeParse(form).success);
    if (fits === undefined) throw new Error(`${place}: no text fits it`);
    this.#places.set(fits, place);
    return fits;
  }
}

const canaries = new Canaries();

/** All that a hub holds and tells of a node, as text. */
async function heldOf(connection: FakeConnection, events: readonly NodeEvent[]): Promise<string> {
  const ring = new EventRing('f'.repeat(16));
  const told: unknown[] = [];
  ring.listen((event) => told.push(HubEvent.parse(event)));
  const log: unknown[] = [];
  const link = new NodeLink({
    nodeId: NODE_ID,
    view: null,
    seenAt: null,
    dial: null,
    now: () => Date.UTC(2020, 0, 1),
    random: () => 0,
    onEvent: (body: HubEventBody, sequence, at) => ring.publish({ nodeId: NODE_ID, sequence, at, body }),
    onState: () => undefined,
    onResync: () => undefined,
    log: (message, error) => log.push({ message, ...faultOf(error) }),
  });
  const serving = link.adopt(connection.line);
  await expect.poll(() => link.link.state).toBe('online');
  const { view } = link;
  const held = () => [
    view.store(),
    ...[view.workspaces, view.sessions, view.records, view.asked].map((map) => [...map]),
  ];
  const atFirst = JSON.stringify(held());
  for (const event of events) connection.tell(event);
  connection.close();
  await serving;
  link.close();
  return JSON.stringify([atFirst, held(), view.version, told, log]);
}

test('of a snapshot and of what is asked, ids, names, times and codes are held and told, and no other text', async () => {
  for (let turn = 0; turn < 6; turn += 1) {
    const snapshot = canaries.plant(NodeSnapshot, `snapshot-${turn}`, turn);
    const interaction = { ...canaries.plant(Interaction, `interactions-${turn}`, turn), state: 'pending' };
    const text = await heldOf(
      new FakeConnection({
        'node.snapshot': () => snapshot,
        'interaction.list': () => ({ interactions: [interaction], truncated: false }),
      }),
      [],
    );
    const found = (what: string) =>
      canaries
        .foundIn(text, new RegExp(`^${what}-${turn}\\.`))
        .map((place) => place.replace(/^[a-z]+-\d+\./, ''));
    expect(found('snapshot')).toEqual([...PASSES.snapshot].sort());
    expect(found('interactions')).toEqual([...PASSES.interactions].sort());
    // What was kept is taken up again as it was.
    const stored = View.of(snapshot, '1').store();
    expect(View.restore(stored)?.store()).toBe(stored);
  }
});

test('of events, ids, names, times and codes are held and told, and no other text', async () => {
  const bodies = (EventBody.unwrap() as z.ZodDiscriminatedUnion<z.ZodObject[]>).options;
  for (let turn = 0; turn < 6; turn += 1) {
    const events = bodies.map((schema, index): NodeEvent => {
      const [kind] = (schema.shape.kind as z.ZodLiteral<string>).values;
      const body = canaries.plant(schema, `events-${turn}.${kind ?? ''}`, turn);
      return NodeEvent.parse({
        sequence: index + 1,
        incarnation: INCARNATION,
        at: '2026-01-01T00:00:00.000Z',
        body,
      });
    });
    const text = await heldOf(new FakeConnection(), events);
    const found = canaries
      .foundIn(text, new RegExp(`^events-${turn}\\.`))
      .map((place) => place.replace(/^events-\d+\./, ''));
    expect(found).toEqual([...PASSES.events].sort());
  }
});

test('the log tells the code of a failure and no detail that a node has given', async () => {
  const lines: string[] = [];
  const link = new NodeLink({
    nodeId: NODE_ID,
    view: null,
    seenAt: null,
    dial: null,
    now: () => 0,
    random: () => 0,
    onEvent: () => undefined,
    onState: () => undefined,
    onResync: () => undefined,
    log: (message, error) => lines.push(JSON.stringify({ message, ...faultOf(error) })),
  });
  await link.adopt(
    new FakeConnection({
      'node.snapshot': () => {
        throw new FailureError('storage-failed', { path: '/canary', reason: 'canary' });
      },
    }).line,
  );
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('storage-failed');
  expect(lines[0]).not.toContain('canary');
});

test('the walk puts a text of its own into every field', () => {
  const planted = new Canaries();
  const session = planted.plant(Session, 'session');
  expect(session.directory).toContain('canary');
  expect(session.command).toEqual([expect.stringContaining('canary')]);
  expect(session.title).toContain('/etc/shadow');
  expect(planted.plant(SessionRecord, 'record').providerSession?.transcriptPath).toContain('/etc/shadow');
  expect(planted.plant(Workspace, 'workspace').git?.branch).toContain('/etc/shadow');
  expect(planted.foundIn(JSON.stringify(session), /^session\./)).toContain('session.title');
});
