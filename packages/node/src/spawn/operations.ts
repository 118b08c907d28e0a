// Launching by spec. Order: the key, the profiles as they are now, the resolution, the caller's permission for exactly what was
// resolved, then the launch of that. It goes on when the caller is gone; `spawn.result` tells how it ended.
import type { SpawnSpec, WorkspaceId } from '@roost/protocol';
import type { Handlers } from '../control/handlers.ts';
import { Deadline, OVER } from '../deadline.ts';
import { selectWorktree, type SelectionScene } from '../worktrees/select-worktree.ts';
import { decideLaunch, settleProvider, startDecided, type LaunchScene } from './launch-spec.ts';
import type { SpawnLedger } from './ledger.ts';
import { tooLate } from './too-late.ts';

interface SpawnOperationsScene extends LaunchScene {
  /** Of the worktrees that a launch can select. */
  readonly selection: SelectionScene;
  readonly ledger: SpawnLedger;
}

type SpawnOperation = 'spawn.submit' | 'spawn.result' | 'profile.list';

export function spawnOperations(scene: SpawnOperationsScene): Pick<Handlers, SpawnOperation> {
  const { ledger, profiles } = scene;
  return {
    'spawn.submit': (spec, caller) => {
      const deadline = Deadline.in(spec.deadlineMs);
      const asked = { key: spec.idempotencyKey, request: spec };
      return ledger.submit(asked, caller.clientName, async (entry) => {
        await settleProvider(scene, spec, deadline);
        const decided = decideLaunch(scene, spec, caller);
        const workspaceId = await targetOf(scene.selection, spec, deadline);
        return startDecided(scene, decided, { workspaceId, lease: null }, { entry, deadline });
      });
    },
    'spawn.result': ({ idempotencyKey }) => ledger.result(idempotencyKey),
    'profile.list': () => {
      profiles.refresh();
      return { profiles: profiles.summaries(), faults: [...profiles.faults] };
    },
  };
}

/** The workspace that it names, or the worktree of it that it selects. */
async function targetOf(
  selection: SelectionScene,
  { target: { workspaceId, worktreeId } }: SpawnSpec,
  deadline: Deadline,
): Promise<WorkspaceId> {
  if (worktreeId === null) return workspaceId;
  const selected = await deadline.race(selectWorktree(selection, { workspaceId, worktreeId }, deadline));
  if (selected === OVER) throw tooLate();
  return selected.id;
}
