// The operations on worktrees by hand.
import { FailureError, type Worktree } from '@roost/protocol';
import type { Handlers } from '../control/handlers.ts';
import type { Slots } from '../control/slots.ts';
import { Deadline } from '../deadline.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import type { WorktreeEntry } from './git-worktrees.ts';
import { listIntents, recoveryView } from './intent-table.ts';
import { ManualWorktrees, type ManualScene } from './manual-worktrees.ts';
import { repositoryOf } from './repository-of.ts';
import { worktreeViews } from './worktree-view.ts';

export interface WorktreeScene extends ManualScene {
  readonly slots: Slots;
}

type WorktreeOperation = 'worktree.list' | 'worktree.create' | 'worktree.remove';

/** Milliseconds of a list, with what was changed in each. */
const LIST_MS = 10_000;
/** Looks into worktrees at once: more do not come to an end sooner. */
const LOOKS_AT_ONCE = 4;

export function worktreeOperations(scene: WorktreeScene): Pick<Handlers, WorktreeOperation> {
  const manual = new ManualWorktrees(scene);
  const { store, modes, slots, worktrees } = scene;
  return {
    'worktree.list': ({ workspaceId, withChanges }) =>
      slots.run(async () => {
        const workspace = findWorkspace(store.sql, workspaceId);
        if (workspace === null) throw new FailureError('unknown-workspace', { workspaceId });
        const deadline = Deadline.in(LIST_MS);
        const common = await repositoryOf(worktrees, workspace, deadline);
        const entries = await worktrees.list(workspace.root, deadline);
        const dirty = withChanges ? await changes(scene, entries, deadline) : new Map<WorktreeEntry, null>();
        const intents = listIntents(store.sql).filter((row) => row.common_directory === common);
        return {
          mode: modes.of(workspaceId),
          worktrees: worktreeViews(store.sql, entries, dirty),
          recoveries: intents.map(recoveryView),
        };
      }),
    'worktree.create': (asked) => manual.create(asked),
    'worktree.remove': (asked) => manual.remove(asked),
  };
}

/** null for what could not be known in time. */
async function changes(
  { worktrees }: WorktreeScene,
  entries: readonly WorktreeEntry[],
  deadline: Deadline,
): Promise<Map<WorktreeEntry, Worktree['dirty']>> {
  const told = new Map<WorktreeEntry, Worktree['dirty']>();
  const waiting = entries.filter((entry) => !entry.isBare && entry.prunable === null);
  const look = async () => {
    for (let entry = waiting.shift(); entry !== undefined; entry = waiting.shift()) {
      try {
        told.set(entry, await worktrees.isDirty(entry.path, deadline));
      } catch {
        told.set(entry, null);
      }
    }
  };
  await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, look));
  return told;
}
