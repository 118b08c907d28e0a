// Launching by spec. Order: the key, the profiles as they are now, the resolution, the caller's permission for exactly what was
// resolved, then the launch of that. It goes on when the caller is gone; `spawn.result` tells how it ended.
import { randomUUID } from 'node:crypto';
import {
  addressOf,
  FailureError,
  SpawnReceipt,
  type NodeId,
  type Incarnation,
  type Params,
  type SpawnSpec,
  type WorkspaceId,
} from '@roost/protocol';
import { findProvider, runtimeCapabilities } from '@roost/providers';
import type { Caller, Handlers } from '../control/handlers.ts';
import { mayUse } from '../control/visible.ts';
import { planSession, type LaunchSource } from '../sessions/launch.ts';
import type { SessionRow } from '../sessions/session-table.ts';
import { locate, type Location } from '../workspaces/locate.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { selectWorktree, type SelectionScene } from '../worktrees/select-worktree.ts';
import { Deadline, OVER, tooLate } from './deadline.ts';
import type { LaunchEntry, SpawnLedger } from './ledger.ts';
import type { SpawnProfiles } from './profiles.ts';
import { resolveSpec, type Catalogues, type ResolvedSpec } from './resolve-spec.ts';
import { startSession, type StartScene } from './start-session.ts';

interface SpawnOperationsScene extends StartScene {
  /** Of the worktrees that a launch can select. */
  readonly selection: SelectionScene;
  readonly ledger: SpawnLedger;
  readonly profiles: SpawnProfiles;
  readonly identity: { readonly nodeId: NodeId; readonly incarnation: Incarnation };
  readonly source: LaunchSource;
}

/** Environment profiles, bundles and context packs are not kept by this node: whatever names one is refused. */
const CATALOGUES: Catalogues = { environmentProfiles: new Map(), bundles: new Map(), contexts: new Map() };

type SpawnOperation = 'spawn.submit' | 'spawn.result' | 'profile.list';

export function spawnOperations(scene: SpawnOperationsScene): Pick<Handlers, SpawnOperation> {
  const { ledger, profiles } = scene;
  return {
    'spawn.submit': (spec, caller) => {
      const deadline = Deadline.in(spec.deadlineMs);
      return ledger.submit(spec, caller.clientName, (entry) =>
        launch(scene, { spec, caller, deadline, entry }),
      );
    },
    'spawn.result': ({ idempotencyKey }) => ledger.result(idempotencyKey),
    'profile.list': () => {
      profiles.refresh();
      return { profiles: profiles.summaries(), faults: [...profiles.faults] };
    },
  };
}

async function launch(
  scene: SpawnOperationsScene,
  asked: { spec: SpawnSpec; caller: Caller; deadline: Deadline; entry: LaunchEntry },
): Promise<SpawnReceipt> {
  const { spec, caller, deadline, entry } = asked;
  const { profiles, identity } = scene;
  profiles.refresh();
  // Before anything of it is told, its revision for one.
  if (spec.target.nodeId === identity.nodeId) profiles.checkVisible(caller, spec.profileId);
  const resolution = resolveSpec(spec, {
    nodeId: identity.nodeId,
    profiles: profiles.profiles,
    catalogues: CATALOGUES,
    capabilities: (id, transport) => {
      const provider = findProvider(id);
      return provider === null ? null : runtimeCapabilities(provider, transport);
    },
  });
  if ('failure' in resolution) throw FailureError.from(resolution.failure);
  const { resolved } = resolution;
  const told = toldOf(scene, spec, resolved);
  mayUse(caller, SpawnReceipt, told);

  const { workspaceId, location } = await locateTarget(scene, spec, deadline);
  const stored: SpawnReceipt[] = [];
  await startSession(scene, {
    launch: planSession(
      {
        launch: { kind: 'provider', provider: resolved.provider, arguments: [...resolved.arguments] },
        transport: resolved.transport,
        environment: {},
        session: { kind: 'assign', id: randomUUID() },
        prompt: resolved.prompt,
      },
      location.directory,
      scene.source,
    ),
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
    deadline,
    afterFailure: 'forget',
    intended: (transaction, session) => {
      const receipt = SpawnReceipt.parse({ ...told, ...sessionOf(session) });
      entry.intended(transaction, receipt);
      stored.push(receipt);
    },
    forgotten: entry.forgotten,
  });
  const [receipt] = stored;
  if (receipt === undefined) throw new Error('a launch that runs was stored');
  return receipt;
}

async function locateTarget(
  { store, selection }: SpawnOperationsScene,
  { target }: SpawnSpec,
  deadline: Deadline,
): Promise<{ workspaceId: WorkspaceId; location: Location }> {
  const { workspaceId: sourceId, worktreeId } = target;
  const workspace =
    worktreeId === null
      ? findWorkspace(store.sql, sourceId)
      : await deadline.race(selectWorktree(selection, { workspaceId: sourceId, worktreeId }, deadline));
  if (workspace === OVER) throw tooLate();
  const workspaceId = worktreeId ?? sourceId;
  if (workspace === null) throw new FailureError('unknown-workspace', { workspaceId });
  const location = await deadline.race(locate(workspace.root));
  if (location === OVER) throw tooLate();
  // A link in the place of the root leads somewhere else.
  if (location?.directory !== workspace.root) throw new FailureError('invalid-directory', { workspaceId });
  return { workspaceId, location };
}

/** The receipt as far as it is decided before anything happens. */
function toldOf(
  { identity: { incarnation } }: SpawnOperationsScene,
  spec: Params<'spawn.submit'>,
  resolved: ResolvedSpec,
): Omit<SpawnReceipt, 'session' | 'recordId' | 'name'> {
  const { prompt, ...values } = resolved;
  return {
    ...values,
    incarnation,
    target: spec.target,
    profileId: spec.profileId,
    arguments: resolved.arguments.length,
    prompt: { present: prompt !== null, byteLength: prompt === null ? 0 : Buffer.byteLength(prompt) },
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
