import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  NodeId,
  ProfileId,
  Revision,
  SpawnProfile,
  SpawnSpec,
  type LaunchField,
  type RuntimeCapability,
} from '@roost/protocol';
import { resolveSpec, type Resolution, type SpecFacts } from './resolve-spec.ts';

const nodeId = NodeId.parse('00000000000000aa');
const review = {
  provider: 'claude',
  transport: 'pipe',
  size: { columns: 70, rows: 20 },
  arguments: ['--model', 'x'],
  prompt: 'look at it',
  environmentProfile: 'profile-environment',
  bundle: 'profile-bundle',
  context: 'profile-context',
} as const;
const plain = { provider: 'claude' } as const;

const OFFERED: Record<string, readonly RuntimeCapability[]> = {
  'claude pty': ['raw-pty-lifecycle', 'structured-prompt', 'provider-session-identity', 'semantic-resume'],
  'claude pipe': ['provider-session-identity'],
  'shell pty': ['raw-pty-lifecycle'],
};

const facts: SpecFacts = {
  nodeId,
  profiles: new Map(
    Object.entries({ review, plain }).map(([id, profile]) => [
      id,
      {
        id: ProfileId.parse(id),
        revision: Revision.parse(`${id}-r7`),
        profile: SpawnProfile.parse(profile),
      },
    ]),
  ),
  catalogues: { environmentProfiles: new Map(), bundles: new Map(), contexts: new Map() },
  capabilities: (provider, transport) =>
    ['claude', 'shell'].includes(provider) ? (OFFERED[`${provider} ${transport}`] ?? []) : null,
};

const target = { nodeId, workspaceId: 'primary' };
const clear = { kind: 'clear' } as const;
const set = <Value>(value: Value) => ({ kind: 'set', value }) as const;
const cleared = { prompt: clear, environmentProfile: clear, bundle: clear, context: clear };

function resolve(more: Record<string, unknown> = {}): Resolution {
  const spec = SpawnSpec.parse({
    target,
    profileId: 'plain',
    expectedRevision: 'plain-r7',
    deadlineMs: 20_000,
    idempotencyKey: 'key',
    ...more,
  });
  return resolveSpec(spec, facts);
}

function codeOf(resolution: Resolution): string {
  return 'failure' in resolution ? resolution.failure.code : 'resolved';
}

const ofReview = { profileId: 'review', expectedRevision: 'review-r7' };

describe('a spawn spec', () => {
  it('takes everything from the profile that it does not override, with the defaults of a profile', () => {
    expect(resolve()).toEqual({
      resolved: {
        profileRevision: 'plain-r7',
        provider: 'claude',
        transport: 'pty',
        size: { columns: 80, rows: 24 },
        arguments: [],
        prompt: null,
        environmentProfile: null,
        bundle: null,
        context: null,
        interactions: null,
        provenance: {
          provider: 'profile',
          transport: 'profile',
          size: 'profile',
          arguments: 'profile',
          prompt: 'profile',
          environmentProfile: 'profile',
          bundle: 'profile',
          context: 'profile',
        },
      },
    });
  });

  it('sets and clears field by field, and says so', () => {
    const overrides = {
      ...cleared,
      provider: set('claude'),
      transport: set('pty'),
      size: set({ columns: 97, rows: 31 }),
      arguments: clear,
    };
    expect(resolve({ ...ofReview, overrides })).toMatchObject({
      resolved: {
        transport: 'pty',
        size: { columns: 97, rows: 31 },
        arguments: [],
        prompt: null,
        provenance: {
          provider: 'override',
          transport: 'override',
          size: 'override',
          arguments: 'cleared',
          prompt: 'cleared',
          environmentProfile: 'cleared',
          bundle: 'cleared',
          context: 'cleared',
        },
      },
    });
  });

  it.each<[string, Record<string, unknown>]>([
    ['spawn-target-mismatch', { target: { ...target, nodeId: '00000000000000bb' } }],
    ['unknown-spawn-profile', { profileId: 'missing' }],
    ['spawn-profile-revision-mismatch', { expectedRevision: 'plain-r8' }],
    ['unknown-environment-profile', ofReview],
    ['unknown-environment-profile', { overrides: { environmentProfile: set('missing') } }],
    ['unknown-bundle', { ...ofReview, overrides: { environmentProfile: clear } }],
    ['unknown-bundle', { overrides: { bundle: set('missing') } }],
    ['unknown-context-pack', { ...ofReview, overrides: { environmentProfile: clear, bundle: clear } }],
    ['unknown-context-pack', { overrides: { context: set('missing') } }],
    ['unknown-provider', { overrides: { provider: set('nobody') } }],
    ['unsupported-spawn-capability', { requiredCapabilities: ['semantic-readiness'] }],
    ['unsupported-spawn-capability', { overrides: { provider: set('shell'), prompt: set('hello') } }],
    [
      'unsupported-spawn-capability',
      { overrides: { transport: set('pipe') }, requiredCapabilities: ['raw-pty-lifecycle'] },
    ],
    ['resolved', { requiredCapabilities: ['raw-pty-lifecycle', 'semantic-resume'] }],
    ['resolved', { overrides: { prompt: set('hello') } }],
  ])('is %s with %j', (code, more) => {
    expect(codeOf(resolve(more))).toBe(code);
  });

  it('tells the first of several reasons, in a fixed order', () => {
    const wrongs: [string, (spec: Record<string, unknown>) => void][] = [
      [
        'spawn-target-mismatch',
        (spec) => (spec.target = { ...(spec.target as object), nodeId: '00000000000000bb' }),
      ],
      ['spawn-profile-revision-mismatch', (spec) => (spec.expectedRevision = 'other')],
      ['unknown-environment-profile', (spec) => override(spec, 'environmentProfile', 'missing')],
      ['unknown-bundle', (spec) => override(spec, 'bundle', 'missing')],
      ['unknown-context-pack', (spec) => override(spec, 'context', 'missing')],
      ['unknown-provider', (spec) => override(spec, 'provider', 'nobody')],
    ];
    fc.assert(
      fc.property(fc.subarray([...wrongs.keys()], { minLength: 1 }), (chosen) => {
        const spec: Record<string, unknown> = { target };
        for (const index of chosen) wrongs[index]![1](spec);
        expect(codeOf(resolve(spec))).toBe(wrongs[Math.min(...chosen)]![0]);
      }),
    );
  });

  it('finds the receipt of what is in a catalogue', () => {
    const bundle = { id: 'b', revision: 'r1', digest: `sha256:${'0'.repeat(64)}` };
    const catalogues = {
      ...facts.catalogues,
      bundles: new Map([['b', bundle]]),
    } as unknown as SpecFacts['catalogues'];
    const spec = SpawnSpec.parse({
      target,
      profileId: 'plain',
      expectedRevision: 'plain-r7',
      deadlineMs: 1,
      idempotencyKey: 'key',
      overrides: { bundle: set('b') },
    });
    expect(resolveSpec(spec, { ...facts, catalogues })).toMatchObject({ resolved: { bundle } });
  });
});

function override(spec: Record<string, unknown>, field: LaunchField, value: string): void {
  spec.overrides = { ...(spec.overrides as object | undefined), [field]: set(value) };
}
