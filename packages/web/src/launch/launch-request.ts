// What a filled-in dialog asks for: pure.
import {
  IdempotencyKey,
  SessionName,
  type LeaseId,
  type NodeId,
  type ParamsInput,
  type SpawnProfileSummary,
  type Transport,
  type WorkspaceId,
  type Workspace,
  type WorktreeProfileSummary,
} from '@roost/protocol';

/** Milliseconds until an agent has to run. */
export const LAUNCH_DEADLINE_MS = 60_000;

export type LaunchPlace =
  | { readonly kind: 'workspace' }
  | { readonly kind: 'new-worktree'; readonly profile: WorktreeProfileSummary }
  | { readonly kind: 'lease'; readonly leaseId: LeaseId }
  /** One that was made by hand; it becomes a workspace with its first session. */
  | { readonly kind: 'worktree'; readonly path: string; readonly workspaceId: WorkspaceId | null };

export interface LaunchChoice {
  readonly nodeId: NodeId;
  readonly workspace: Pick<Workspace, 'id' | 'root' | 'kind'>;
  /** null: a provider as it is, without a profile. */
  readonly profile: SpawnProfileSummary | null;
  /** That of the profile unless another one is chosen. */
  readonly provider: string;
  readonly transport: Transport;
  readonly place: LaunchPlace;
  /** Empty: none. */
  readonly prompt: string;
  /** Empty: made from the provider. */
  readonly name: string;
}

export type LaunchRequest =
  | { readonly operation: 'session.spawn'; readonly params: ParamsInput<'session.spawn'> }
  | { readonly operation: 'spawn.submit'; readonly params: ParamsInput<'spawn.submit'> }
  | { readonly operation: 'worktree.spawn'; readonly params: ParamsInput<'worktree.spawn'> };

/** Why it cannot be asked for yet, in words; null: it can. */
export function launchFault(choice: LaunchChoice): string | null {
  if (choice.name !== '' && !SessionName.safeParse(choice.name).success)
    return 'A name is 1-64 letters, digits, dots, dashes and underscores.';
  const { kind } = choice.place;
  if (choice.profile === null && (kind === 'new-worktree' || kind === 'lease'))
    return 'A managed worktree needs a spawn profile.';
  if (choice.profile !== null && choice.place.kind === 'worktree' && choice.place.workspaceId === null)
    return 'That worktree is no workspace yet: start there without a profile, which makes it one.';
  if (choice.profile === null && choice.prompt !== '')
    return 'A first prompt needs a spawn profile; without one, write it once the agent is ready.';
  return null;
}

/** `key`: the same for the same launch, so that asking again starts nothing twice. */
export function launchRequest(choice: LaunchChoice, key: string): LaunchRequest {
  const { nodeId, workspace, profile, provider, transport, place, prompt } = choice;
  const name = choice.name === '' ? null : SessionName.parse(choice.name);
  if (profile === null) {
    return {
      operation: 'session.spawn',
      params: {
        directory: place.kind === 'worktree' ? place.path : workspace.root,
        transport,
        launch: { kind: 'provider', provider, arguments: [] },
        ...(name === null ? {} : { name }),
      },
    };
  }
  const spec: ParamsInput<'spawn.submit'> = {
    target: { nodeId, workspaceId: (place.kind === 'worktree' ? place.workspaceId : null) ?? workspace.id },
    profileId: profile.id,
    expectedRevision: profile.revision,
    overrides: {
      ...(provider === profile.provider ? {} : { provider: { kind: 'set', value: provider } }),
      ...(transport === profile.transport ? {} : { transport: { kind: 'set', value: transport } }),
      ...(prompt === '' ? {} : { prompt: { kind: 'set', value: prompt } }),
    },
    name,
    deadlineMs: LAUNCH_DEADLINE_MS,
    idempotencyKey: IdempotencyKey.parse(key),
  };
  switch (place.kind) {
    case 'workspace':
    case 'worktree':
      return { operation: 'spawn.submit', params: spec };
    case 'new-worktree':
      return {
        operation: 'worktree.spawn',
        params: {
          spec,
          worktree: {
            kind: 'new',
            profileId: place.profile.id,
            expectedRevision: place.profile.revision,
            name,
          },
        },
      };
    case 'lease':
      return {
        operation: 'worktree.spawn',
        params: { spec, worktree: { kind: 'lease', leaseId: place.leaseId } },
      };
  }
}
