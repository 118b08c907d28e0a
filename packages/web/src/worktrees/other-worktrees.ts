// Worktrees that no lease holds: made by hand. Pure.
import type { HubView } from '@roost/client/browser';
import type {
  NodeId,
  Result,
  WorkspaceId,
  Worktree,
  WorktreeLease,
  WorktreeServiceMode,
} from '@roost/protocol';
import { isLive } from '../parts/session-words.ts';

/** What was listed from one workspace; workspaces of one repository list the same. */
export type WorktreeListing = Pick<Result<'worktree.list'>, 'mode' | 'worktrees'> & {
  readonly askedOf: WorkspaceId;
};

export interface OtherWorktree extends Worktree {
  /** The workspace by which git is asked about it. */
  readonly sourceWorkspaceId: WorkspaceId;
  readonly mode: WorktreeServiceMode;
}

/** Each once, by its path; without main checkouts and those of leases. */
export function otherWorktrees(
  listings: readonly WorktreeListing[],
  leases: readonly Pick<WorktreeLease, 'workspaceId'>[],
): OtherWorktree[] {
  const leased = new Set(leases.map(({ workspaceId }) => workspaceId));
  const found = new Map<string, OtherWorktree>();
  for (const { askedOf, mode, worktrees } of listings) {
    for (const worktree of worktrees) {
      const { path, isMain, isBare, workspaceId } = worktree;
      if (isMain || isBare || (workspaceId !== null && leased.has(workspaceId))) continue;
      const sourceWorkspaceId = askedOf === workspaceId ? anotherOf(worktrees, askedOf) : askedOf;
      const known = found.get(path);
      if (known === undefined || known.sourceWorkspaceId === known.workspaceId)
        found.set(path, { ...worktree, sourceWorkspaceId, mode });
    }
  }
  return [...found.values()].toSorted((a, b) => a.path.localeCompare(b.path));
}

/** One cannot be removed by way of itself. */
function anotherOf(worktrees: readonly Worktree[], workspaceId: WorkspaceId): WorkspaceId {
  const another = worktrees.find((one) => one.workspaceId !== null && one.workspaceId !== workspaceId);
  return another?.workspaceId ?? workspaceId;
}

/** Workspaces that need not be asked: one before them lists the same. */
export function toldByOthers(listings: readonly WorktreeListing[]): Set<WorkspaceId> {
  const told = new Set<WorkspaceId>();
  for (const { askedOf, worktrees } of listings) {
    if (told.has(askedOf)) continue;
    for (const { workspaceId } of worktrees)
      if (workspaceId !== null && workspaceId !== askedOf) told.add(workspaceId);
  }
  return told;
}

/** Workspaces of a node, and live sessions with theirs: another text when one of them comes, goes or has another name. */
export function placesText(view: Pick<HubView, 'workspaces' | 'sessions'> | null, nodeId: NodeId): string {
  if (view === null) return '';
  const workspaces = [...view.workspaces.values()].filter((one) => one.nodeId === nodeId).map(({ id }) => id);
  const sessions = [...view.sessions.values()]
    .filter((one) => one.nodeId === nodeId && isLive(one))
    .map(({ id, name, workspaceId }) => `${id} ${name} ${workspaceId}`);
  return [...workspaces, ...sessions].toSorted().join('\n');
}

/** `fix-login`, or where it stands when it is on no branch. */
export function worktreeName({ branch, path }: Pick<Worktree, 'branch' | 'path'>): string {
  return branch ?? path.slice(path.lastIndexOf('/') + 1);
}
