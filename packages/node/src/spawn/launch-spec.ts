// A launch by spec in two halves: what it comes to, decided and permitted before anything happens, and the start of exactly that, in
// the place that the spec names or in a managed worktree.
import { randomUUID } from 'node:crypto';
import {
  addressOf,
  FailureError,
  SpawnReceipt,
  type Incarnation,
  type NodeId,
  type SpawnSpec,
  type WorkspaceId,
} from '@roost/protocol';
import { runtimeCapabilities } from '@roost/providers';
import type { Caller } from '../control/handlers.ts';
import { mayUse } from '../control/visible.ts';
import { OVER, type Deadline } from '../deadline.ts';
import { leaseEnvironment } from '../managed-worktrees/lease-environment.ts';
import { receiptOf, type LeaseRow } from '../managed-worktrees/lease-table.ts';
import { planSession, type Launch, type LaunchSource } from '../sessions/launch.ts';
import type { SessionRow } from '../sessions/session-table.ts';
import type { Transaction } from '../store/store.ts';
import { locate, type Location } from '../workspaces/locate.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import type { LaunchEntry } from './ledger.ts';
import type { SpawnProfiles } from './profiles.ts';
import { resolveSpec, type Catalogues, type ResolvedSpec } from './resolve-spec.ts';
import { startSession, type StartScene } from './start-session.ts';
import { tooLate } from './too-late.ts';

export interface LaunchScene extends StartScene {
  readonly profiles: SpawnProfiles;
  readonly identity: { readonly nodeId: NodeId; readonly incarnation: Incarnation };
  readonly source: LaunchSource;
}

/** Environment profiles, bundles and context packs are not kept by this node: whatever names one is refused. */
const CATALOGUES: Catalogues = { environmentProfiles: new Map(), bundles: new Map(), contexts: new Map() };

/** Waits until it is known what its provider is good for: what is decided rests on that. @throws FailureError: spawn-deadline-exceeded. */
export async function settleProvider(
  { profiles, source }: Pick<LaunchScene, 'profiles' | 'source'>,
  { profileId, overrides }: SpawnSpec,
  deadline: Deadline,
): Promise<void> {
  profiles.refresh();
  const wanted = overrides.provider;
  const id = wanted.kind === 'set' ? wanted.value : profiles.profiles.get(profileId)?.profile.provider;
  if (id === undefined) return;
  if ((await deadline.race(source.providers.settle(id))) === OVER) throw tooLate();
}

export interface DecidedLaunch {
  readonly spec: SpawnSpec;
  readonly resolved: ResolvedSpec;
  /** The receipt as far as it is decided before anything happens. */
  readonly told: Omit<SpawnReceipt, 'session' | 'recordId' | 'name'>;
}

/** @throws FailureError: what the spec, its profile or the caller's permission stands against. */
export function decideLaunch(scene: LaunchScene, spec: SpawnSpec, caller: Caller): DecidedLaunch {
  const { profiles, identity } = scene;
  profiles.refresh();
  // Before anything of it is told, its revision for one.
  if (spec.target.nodeId === identity.nodeId) profiles.checkVisible(caller, spec.profileId);
  const resolution = resolveSpec(spec, {
    nodeId: identity.nodeId,
    profiles: profiles.profiles,
    catalogues: CATALOGUES,
    capabilities: (id, transport) => {
      const provider = scene.source.providers.find(id);
      return provider === null ? null : runtimeCapabilities(provider, transport);
    },
  });
  if ('failure' in resolution) throw FailureError.from(resolution.failure);
  const { resolved } = resolution;
  const told = toldOf(scene, spec, resolved);
  mayUse(caller, SpawnReceipt, told);
  return { spec, resolved, told };
}

/** Where it works; in the worktree of a lease it gets the environment of that. */
export interface LaunchPlace {
  readonly workspaceId: WorkspaceId;
  readonly lease: LeaseRow | null;
  /** More of the transaction that stores the launch. */
  readonly intended?: (transaction: Transaction) => void;
}

/** @throws FailureError: those of a launch. */
export async function startDecided(
  scene: LaunchScene,
  decided: DecidedLaunch,
  { workspaceId, lease, intended }: LaunchPlace,
  { entry, deadline }: { readonly entry: LaunchEntry; readonly deadline: Deadline },
): Promise<SpawnReceipt> {
  const { spec, resolved, told } = decided;
  const location = await locateWorkspace(scene, workspaceId, deadline);
  const stored: SpawnReceipt[] = [];
  await startSession(scene, {
    launch: planDecided(scene, decided, location.directory, lease),
    transport: resolved.transport,
    size: resolved.size,
    location,
    workspaceId,
    name: spec.name,
    record: {
      kind: 'new',
      arguments: resolved.arguments,
      bundle: resolved.bundle,
      context: resolved.context,
    },
    environmentProfile: resolved.environmentProfile,
    prompt: resolved.prompt,
    interactions: resolved.interactions,
    ...(lease === null ? {} : { leaseId: lease.id }),
    deadline,
    afterFailure: 'forget',
    intended: (transaction, session) => {
      const worktree = lease === null ? null : receiptOf(lease);
      const receipt = SpawnReceipt.parse({ ...told, worktree, ...sessionOf(session) });
      entry.intended(transaction, receipt);
      intended?.(transaction);
      stored.push(receipt);
    },
    forgotten: entry.forgotten,
  });
  const [receipt] = stored;
  if (receipt === undefined) throw new Error('a launch that runs was stored');
  return receipt;
}

/** What would be started in that directory. @throws FailureError: provider-not-installed, invalid-request. */
export function planDecided(
  { source }: Pick<LaunchScene, 'source'>,
  { resolved }: DecidedLaunch,
  directory: string,
  lease: LeaseRow | null,
): Launch {
  return planSession(
    {
      launch: { kind: 'provider', provider: resolved.provider, arguments: [...resolved.arguments] },
      transport: resolved.transport,
      environment: {},
      ...(lease === null ? {} : { worktree: leaseEnvironment(lease) }),
      session: { kind: 'assign', id: randomUUID() },
      prompt: resolved.prompt,
    },
    directory,
    source,
  );
}

async function locateWorkspace(
  { store }: LaunchScene,
  workspaceId: WorkspaceId,
  deadline: Deadline,
): Promise<Location> {
  const workspace = findWorkspace(store.sql, workspaceId);
  if (workspace === null) throw new FailureError('unknown-workspace', { workspaceId });
  const location = await deadline.race(locate(workspace.root));
  if (location === OVER) throw tooLate();
  // A link in the place of the root leads somewhere else.
  if (location?.directory !== workspace.root) throw new FailureError('invalid-directory', { workspaceId });
  return location;
}

function toldOf(
  { identity: { incarnation } }: LaunchScene,
  spec: SpawnSpec,
  resolved: ResolvedSpec,
): DecidedLaunch['told'] {
  const { prompt, interactions: _, ...values } = resolved;
  return {
    ...values,
    incarnation,
    target: spec.target,
    profileId: spec.profileId,
    arguments: resolved.arguments.length,
    prompt: { present: prompt !== null, byteLength: prompt === null ? 0 : Buffer.byteLength(prompt) },
    worktree: null,
    deadlineMs: spec.deadlineMs,
    idempotencyKey: spec.idempotencyKey,
    requiredCapabilities: spec.requiredCapabilities,
  };
}

function sessionOf(
  row: SessionRow,
): Pick<SpawnReceipt, 'session' | 'name'> & { recordId: SessionRow['record_id'] } {
  const { workspace_id: workspaceId, id, generation } = row;
  return { session: addressOf({ workspaceId, id, generation }), name: row.name, recordId: row.record_id };
}
