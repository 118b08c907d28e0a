/** In which directory a session is started: that of a workspace, or a worktree of its repository. */
import { Select } from '@mantine/core';
import type { NodeSnapshot, Result, WorkspaceId } from '@roost/protocol';
import { useNodeQuery } from '../hub/queries.ts';
import { otherWorktrees, worktreeName } from '../worktrees/other-worktrees.ts';
import type { LaunchChoice, LaunchPlace } from './launch-request.ts';
import styles from './launch.module.css';

export interface FieldsProps {
  readonly snapshot: NodeSnapshot;
  readonly choice: LaunchChoice;
  readonly onChange: (changed: Partial<LaunchChoice>) => void;
}

export function PlaceFields({ snapshot, choice, onChange }: FieldsProps) {
  const listing = useNodeQuery(
    snapshot.nodeId,
    'worktree.list',
    { workspaceId: choice.workspace.id },
    { enabled: choice.workspace.kind === 'git', staleTime: 10_000 },
  );
  const places = placesOf(snapshot, choice.workspace.id, listing.data ?? null);
  const value = placeValue(choice.place);
  return (
    <div className={styles.pair}>
      <Select
        label="Workspace"
        searchable
        allowDeselect={false}
        data={snapshot.workspaces.map(({ id }) => ({ value: id, label: branchAt(snapshot, id) ?? id }))}
        renderOption={({ option }) => (
          <span>
            {option.label} <span className={styles.root}>{rootOf(snapshot, option.value)}</span>
          </span>
        )}
        value={choice.workspace.id}
        onChange={(next) => {
          const workspace = snapshot.workspaces.find(({ id }) => id === next);
          if (workspace !== undefined) onChange({ workspace, place: { kind: 'workspace' } });
        }}
      />
      {(choice.workspace.kind === 'git' || places.length > 1) && (
        <Select
          label="Worktree"
          allowDeselect={false}
          data={places.map(({ place, label }) => ({ value: placeValue(place), label }))}
          value={value}
          onChange={(next) => {
            const found = places.find(({ place }) => placeValue(place) === next);
            if (found !== undefined) onChange({ place: found.place });
          }}
        />
      )}
    </div>
  );
}

function rootOf({ workspaces }: NodeSnapshot, workspaceId: string): string {
  return workspaces.find(({ id }) => id === workspaceId)?.root ?? '';
}

/** Of a managed worktree; null for any other workspace. */
function branchAt({ worktrees }: NodeSnapshot, workspaceId: WorkspaceId): string | null {
  return worktrees?.find((lease) => lease.workspaceId === workspaceId)?.branch ?? null;
}

function placesOf(
  snapshot: NodeSnapshot,
  workspaceId: WorkspaceId,
  listing: Result<'worktree.list'> | null,
): { readonly place: LaunchPlace; readonly label: string }[] {
  const profiles = (snapshot.launchInventory.worktreeProfiles ?? []).filter(
    ({ sourceWorkspace }) => sourceWorkspace === workspaceId,
  );
  const leases = (snapshot.worktrees ?? []).filter(
    ({ sourceWorkspaceId, state }) =>
      sourceWorkspaceId === workspaceId && ['ready', 'retained', 'in-use'].includes(state),
  );
  const byHand = otherWorktrees(
    listing === null ? [] : [{ ...listing, askedOf: workspaceId }],
    snapshot.worktrees ?? [],
  ).filter((worktree) => worktree.prunable === null && worktree.workspaceId !== workspaceId);
  return [
    { place: { kind: 'workspace' }, label: 'The workspace itself' },
    ...profiles.map((profile) => ({
      place: { kind: 'new-worktree', profile } as const,
      label: `A new worktree (${profile.id})`,
    })),
    ...leases.map(({ id, branch }) => ({ place: { kind: 'lease', leaseId: id } as const, label: branch })),
    ...byHand.map((worktree) => ({
      place: { kind: 'worktree', path: worktree.path, workspaceId: worktree.workspaceId } as const,
      label: `${worktreeName(worktree)} (made by hand)`,
    })),
  ];
}

function placeValue(place: LaunchPlace): string {
  switch (place.kind) {
    case 'workspace':
      return 'workspace';
    case 'new-worktree':
      return `new ${place.profile.id}`;
    case 'lease':
      return place.leaseId;
    case 'worktree':
      return place.path;
  }
}
