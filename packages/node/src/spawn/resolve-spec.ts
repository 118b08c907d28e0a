// From a spawn spec to what is launched, or to the first reason why not. Pure: it decides, nothing has happened yet, and the same
// value is asked for permission, executed and told in the receipt.
import {
  failure,
  type BundleReceipt,
  type ContextReceipt,
  type EnvironmentReceipt,
  type Failure,
  type InteractionPolicy,
  type LaunchField,
  type NodeId,
  type Provenance,
  type ResourceId,
  type RuntimeCapability,
  type SpawnReceipt,
  type SpawnSpec,
  type TerminalSize,
  type Transport,
} from '@roost/protocol';
import type { NamedProfile } from './profiles.ts';

/** What can be chosen by id. */
export interface Catalogues {
  readonly environmentProfiles: ReadonlyMap<ResourceId, EnvironmentReceipt>;
  readonly bundles: ReadonlyMap<ResourceId, BundleReceipt>;
  readonly contexts: ReadonlyMap<ResourceId, ContextReceipt>;
}

export interface SpecFacts {
  readonly nodeId: NodeId;
  readonly profiles: ReadonlyMap<string, NamedProfile>;
  readonly catalogues: Catalogues;
  /** What a provider can be relied on for; null for one that is not known. */
  readonly capabilities: (provider: string, transport: Transport) => readonly RuntimeCapability[] | null;
}

export interface ResolvedSpec {
  readonly profileRevision: SpawnReceipt['profileRevision'];
  readonly provider: string;
  readonly transport: Transport;
  readonly size: TerminalSize;
  readonly arguments: readonly string[];
  readonly prompt: string | null;
  readonly environmentProfile: EnvironmentReceipt | null;
  readonly bundle: BundleReceipt | null;
  readonly context: ContextReceipt | null;
  readonly interactions: InteractionPolicy | null;
  readonly provenance: Readonly<Record<LaunchField, Provenance>>;
}

export type Resolution = { readonly resolved: ResolvedSpec } | { readonly failure: Failure };

export function resolveSpec(spec: SpawnSpec, facts: SpecFacts): Resolution {
  const { target, profileId, expectedRevision, overrides } = spec;
  if (target.nodeId !== facts.nodeId) return refused('spawn-target-mismatch', { nodeId: target.nodeId });
  const named = facts.profiles.get(profileId);
  if (named === undefined) return refused('unknown-spawn-profile', { profileId });
  if (named.revision !== expectedRevision) {
    return refused('spawn-profile-revision-mismatch', { profileId, revision: named.revision });
  }
  const { profile } = named;
  const provider = merged(overrides.provider, profile.provider);
  const transport = merged(overrides.transport, profile.transport);
  const size = merged(overrides.size, profile.size);
  const given = merged<readonly string[]>(overrides.arguments, profile.arguments, []);
  const prompt = merged(overrides.prompt, profile.prompt ?? null, null);
  const environmentId = merged(overrides.environmentProfile, profile.environmentProfile ?? null, null);
  const bundleId = merged(overrides.bundle, profile.bundle ?? null, null);
  const contextId = merged(overrides.context, profile.context ?? null, null);

  const { environmentProfiles, bundles, contexts } = facts.catalogues;
  const environmentProfile = chosen(environmentProfiles, environmentId.value);
  if (environmentProfile === undefined) {
    return refused('unknown-environment-profile', { environmentProfile: environmentId.value ?? '' });
  }
  const bundle = chosen(bundles, bundleId.value);
  if (bundle === undefined) return refused('unknown-bundle', { bundle: bundleId.value ?? '' });
  const context = chosen(contexts, contextId.value);
  if (context === undefined) return refused('unknown-context-pack', { context: contextId.value ?? '' });

  const offered = facts.capabilities(provider.value, transport.value);
  if (offered === null) return refused('unknown-provider', { provider: provider.value });
  const needed: readonly RuntimeCapability[] =
    prompt.value === null ? spec.requiredCapabilities : [...spec.requiredCapabilities, 'structured-prompt'];
  const lacking = needed.find((one) => !offered.includes(one));
  if (lacking !== undefined) {
    const details = { capability: lacking, provider: provider.value, transport: transport.value };
    return refused('unsupported-spawn-capability', details);
  }
  return {
    resolved: {
      profileRevision: named.revision,
      provider: provider.value,
      transport: transport.value,
      size: size.value,
      arguments: given.value,
      prompt: prompt.value,
      environmentProfile,
      bundle,
      context,
      interactions: profile.interactions ?? null,
      provenance: {
        provider: provider.provenance,
        transport: transport.provenance,
        size: size.provenance,
        arguments: given.provenance,
        prompt: prompt.provenance,
        environmentProfile: environmentId.provenance,
        bundle: bundleId.provenance,
        context: contextId.provenance,
      },
    },
  };
}

interface Merged<Value> {
  readonly value: Value;
  readonly provenance: Provenance;
}

/** `none`: what stands for a cleared field; a field that cannot be cleared has none. */
function merged<Value>(override: Override<Value>, inherited: Value, ...none: [] | [Value]): Merged<Value> {
  switch (override.kind) {
    case 'inherit':
      return { value: inherited, provenance: 'profile' };
    case 'set':
      return { value: override.value, provenance: 'override' };
    case 'clear': {
      if (none.length === 0) throw new Error('this field cannot be cleared');
      return { value: none[0], provenance: 'cleared' };
    }
  }
}

type Override<Value> =
  | { readonly kind: 'inherit' }
  | { readonly kind: 'set'; readonly value: NonNullable<Value> }
  | { readonly kind: 'clear' };

/** null: nothing was asked for. undefined: there is no such thing. */
function chosen<Receipt>(
  catalogue: ReadonlyMap<ResourceId, Receipt>,
  id: ResourceId | null,
): Receipt | null | undefined {
  return id === null ? null : catalogue.get(id);
}

function refused(...reason: Parameters<typeof failure>): Resolution {
  return { failure: failure(...reason) };
}
