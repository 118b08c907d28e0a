import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { HUB_OPERATIONS, OPERATIONS } from '@roost/protocol';
import { nodeId, TestAccess } from '../access/access-for-test.ts';
import { LOCAL } from '../access/authenticate.ts';
import { Audit } from './audit.ts';
import { auditTarget } from './audit-target.ts';

/** The only places in requests of which the log may tell anything. */
const TOLD: ReadonlySet<string> = new Set([
  ...['workspaceId', 'sourceWorkspaceId', 'sessionId', 'recordId', 'leaseId', 'historyId', 'interactionId'],
  ...['profileId', 'idempotencyKey', 'provider', 'name', 'user', 'tokenId', 'inviteId', 'nodeName', 'hubId'],
  ...['role', 'mode', 'choice', 'scope.nodeId'],
  ...['target.workspaceId', 'target.worktreeId', 'target.taskId', 'launch.provider'],
  ...[
    'spec.target.workspaceId',
    'spec.target.worktreeId',
    'spec.profileId',
    'spec.idempotencyKey',
    'spec.name',
  ],
  ...['worktree.profileId', 'worktree.name', 'worktree.leaseId'],
]);

interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly type?: string;
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
}

/** Every text in one request, by where it is. */
type Canaries = Map<string, string>;

/** Requests that together have a text in every place where one can be. Texts come from `draw`. */
function requestsOf(schema: z.ZodType, draw: () => string): { params: unknown; canaries: Canaries }[] {
  const root = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  const build = (part: JsonSchema, place: readonly string[], canaries: Canaries, branch: number): unknown => {
    if (place.length > 12) return null;
    const target = part.$ref === undefined ? part : root.$defs?.[part.$ref.replace('#/$defs/', '')];
    if (target === undefined) return null;
    if (target !== part) return build(target, place, canaries, branch);
    const choices = part.anyOf ?? part.oneOf ?? part.allOf;
    if (choices !== undefined) return build(choices[branch % choices.length] ?? {}, place, canaries, branch);
    if (part.const !== undefined) return part.const;
    if (part.properties !== undefined)
      return Object.fromEntries(
        Object.entries(part.properties).map(([name, one]) => [
          name,
          build(one, [...place, name], canaries, branch),
        ]),
      );
    if (part.type === 'array')
      return [
        build(part.items ?? {}, place, canaries, branch),
        build(part.items ?? {}, place, canaries, branch + 1),
      ];
    if (part.type === 'number' || part.type === 'integer') return 1;
    if (part.type === 'boolean') return true;
    if (part.type === 'null') return null;
    const text = draw();
    canaries.set(text, place.join('.'));
    return text;
  };
  return Array.from({ length: 8 }, (_, branch) => {
    const canaries: Canaries = new Map();
    return { params: build(root, [], canaries, branch), canaries };
  });
}

/** Texts that pass for as many kinds of names and ids as one text can, and whether some are told. */
const KINDS: readonly (readonly [string, boolean, (number: number) => string])[] = [
  ['names', true, (number) => `canary-${number}-x`],
  ['ids of 16 digits', true, (number) => (0xca0a_4700_0000 + number).toString(16).padStart(16, 'c')],
  ['ids of 24 digits', true, (number) => (0xca0a_4700_0000 + number).toString(16).padStart(24, 'c')],
  ['ids of tasks', true, (number) => `task-${(0xca0a_4700_0000 + number).toString(16).padStart(24, 'c')}`],
  ['ids of worktrees', true, (number) => `wt-${(0xca0a_4700_0000 + number).toString(16).padStart(16, 'c')}`],
  ['paths', false, (number) => `/home/canary/${number}`],
  ['sentences', false, (number) => `the canary ${number} sings\nloud`],
];

describe('the audit log tells of a request', () => {
  let test: TestAccess;
  let audit: Audit;
  beforeEach(() => {
    test = new TestAccess();
    audit = new Audit({ store: test.store, onLost: () => undefined });
  });
  afterEach(() => test.remove());

  it.each(KINDS)('no text but allowed ids and names: %s everywhere', (_, isTold, text) => {
    let drawn = 0;
    let places = 0;
    const leaked: string[] = [];
    let told = 0;
    test.store.transact(() => {
      for (const { name, params: schema } of [
        ...Object.values(OPERATIONS),
        ...Object.values(HUB_OPERATIONS),
      ]) {
        for (const { params, canaries } of requestsOf(schema, () => text((drawn += 1)))) {
          places += canaries.size;
          audit.asked({ requestId: 'r', actor: LOCAL, from: 'local', operation: name, nodeId: null, params })(
            'done',
          );
          const stored = JSON.stringify(audit.list({ limit: 2 }).entries);
          for (const [canary, place] of canaries) {
            if (!stored.includes(JSON.stringify(canary).slice(1, -1))) continue;
            told += 1;
            if (!TOLD.has(place)) leaked.push(`${name}: ${place}`);
          }
        }
      }
    });
    expect(leaked).toEqual([]);
    expect(places).toBeGreaterThan(500);
    expect(told > 0).toBe(isTold);
  });

  it('what it was done to, also deep inside', () => {
    expect(
      auditTarget({
        spec: {
          target: { nodeId: nodeId(1), workspaceId: 'repo', worktreeId: null },
          profileId: 'review',
          expectedRevision: '1',
          overrides: { prompt: { kind: 'set', value: 'say nothing' } },
          name: 'reviewer',
          idempotencyKey: 'key-1',
        },
        worktree: { kind: 'lease', leaseId: 'wt-0123456789abcdef' },
      }),
    ).toEqual({
      workspaceId: 'repo',
      profileId: 'review',
      name: 'reviewer',
      idempotencyKey: 'key-1',
      leaseId: 'wt-0123456789abcdef',
    });
    expect(auditTarget({ workspaceId: 'repo', sessionId: nodeId(1), generation: 1, text: 'secret' })).toEqual(
      {
        workspaceId: 'repo',
        sessionId: nodeId(1),
      },
    );
  });

  it('how far a user or token reaches', () => {
    const scope = [1, 2].map((number) => ({ nodeId: nodeId(number), workspaceIds: null }));
    expect(auditTarget({ name: 'bob', role: 'operator', scope })).toEqual({
      name: 'bob',
      role: 'operator',
      scope: `${nodeId(1)} ${nodeId(2)}`,
    });
    expect(auditTarget({ name: 'bob', scope: null, disabled: true })).toEqual({
      name: 'bob',
      scope: 'all',
      disabled: 'true',
    });
    const many = Array.from({ length: 20 }, (_, number) => ({ nodeId: nodeId(number), workspaceIds: null }));
    expect(auditTarget({ scope: many }).scope).toMatch(/^([0-9a-f]{16} ){16}and 4 more$/);
  });

  it('nothing of what is no request at all, and nothing of what only looks like a field', () => {
    for (const params of [
      null,
      undefined,
      'text',
      7,
      [],
      ['a'],
      { name: 'rm -rf /', sessionId: 5, role: 'root' },
    ])
      expect(auditTarget(params)).toEqual({});
    const inherited = Object.create({ name: 'inherited' }) as object;
    expect(auditTarget(inherited)).toEqual({});
    expect(
      auditTarget(JSON.parse('{"__proto__": {"name": "x"}, "spec": {"spec": {"spec": {"name": "deep"}}}}')),
    ).toEqual({});
  });
});
