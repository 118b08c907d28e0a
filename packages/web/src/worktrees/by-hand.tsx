/** Worktrees of one node that were made by hand: of every repository in which a workspace is. */
import { useEffect, useMemo, useRef } from 'react';
import { Table, Text } from '@mantine/core';
import { useQueries, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { HubNode, NodeId, Result, WorkspaceId, WorktreeLease } from '@roost/protocol';
import { useHub, useMay, useView } from '../hub/hub-context.tsx';
import { nodeKey } from '../hub/queries.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import { Status } from '../parts/status.tsx';
import { workspacePath } from '../shell/pages.ts';
import {
  otherWorktrees,
  placesText,
  toldByOthers,
  worktreeName,
  type OtherWorktree,
} from './other-worktrees.ts';
import { SessionLinks, WorktreeTable } from './worktree-table.tsx';

/** Milliseconds between two looks while the page is seen. Each repository has its share of them: a look is two short gits, 15 ms in all. */
const LOOK_MS = { least: 3_000, each: 1_500 } as const;
/** Workspaces that are asked. */
const ASKED_MAX = 24;

export function WorktreesByHand({
  node,
  leases,
}: {
  readonly node: HubNode;
  readonly leases: readonly WorktreeLease[];
}) {
  const { api } = useHub();
  const queries = useQueryClient();
  useTold(node.id);
  const leased = new Set(leases.map(({ workspaceId }) => workspaceId));
  const workspaces = [...(useView()?.workspaces.values() ?? [])].filter(
    ({ id, nodeId, kind }) => nodeId === node.id && kind === 'git' && !leased.has(id),
  );
  const asked = workspaces.slice(0, ASKED_MAX);
  const keyOf = (id: WorkspaceId) => nodeKey(node.id, 'worktree.list', { workspaceId: id });
  const known = asked.flatMap(({ id }) => {
    const data = queries.getQueryData<Result<'worktree.list'>>(keyOf(id));
    return data === undefined ? [] : [{ ...data, askedOf: id }];
  });
  const told = toldByOthers(known);
  const apart = asked.filter(({ id }) => !told.has(id));
  const listings = useQueries({
    queries: apart.map(({ id }) => ({
      queryKey: keyOf(id),
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        api.node(node.id, 'worktree.list', { workspaceId: id }, { signal }),
      refetchInterval: Math.max(LOOK_MS.least, LOOK_MS.each * apart.length),
    })),
  });
  const found = otherWorktrees(
    known.filter(({ askedOf }) => !told.has(askedOf)),
    leases,
  );
  const silent = listings.filter(({ error, data }) => error !== null && data === undefined).length;
  return (
    <>
      {found.length > 0 && <ByHandTable node={node} worktrees={found} />}
      {silent > 0 && (
        <Text size="xs" c="dimmed">
          Git could not tell of {silent} {silent === 1 ? 'workspace' : 'workspaces'}.
        </Text>
      )}
      {workspaces.length > ASKED_MAX && (
        <Text size="xs" c="dimmed">
          Those of {ASKED_MAX} workspaces are shown; there are {workspaces.length}.
        </Text>
      )}
    </>
  );
}

/** Looks again when a workspace or session comes or goes: a worktree may have come, or be held by another. */
function useTold(nodeId: NodeId): void {
  const queries = useQueryClient();
  const view = useView();
  const news = useMemo(() => placesText(view, nodeId), [view, nodeId]);
  const before = useRef(news);
  useEffect(() => {
    if (before.current === news) return;
    before.current = news;
    for (const name of ['worktree.list', 'worktree.leases'] as const)
      void queries.invalidateQueries({ queryKey: nodeKey(nodeId, name) });
  }, [queries, nodeId, news]);
}

function ByHandTable({
  node,
  worktrees,
}: {
  readonly node: HubNode;
  readonly worktrees: readonly OtherWorktree[];
}) {
  return (
    <WorktreeTable label={`Worktrees made by hand on ${node.name}`} first="Made by hand" last="Commit">
      {worktrees.map((worktree) => (
        <ByHandRow key={worktree.path} node={node} worktree={worktree} />
      ))}
    </WorktreeTable>
  );
}

function ByHandRow({ node, worktree }: { readonly node: HubNode; readonly worktree: OtherWorktree }) {
  const name = worktreeName(worktree);
  return (
    <Table.Tr>
      <Table.Td title={worktree.path}>
        <Named nodeId={node.id} workspaceId={worktree.workspaceId} name={name} />
      </Table.Td>
      <Table.Td>
        <Status {...stateOf(worktree)} />
      </Table.Td>
      <Table.Td>{worktree.sourceWorkspaceId}</Table.Td>
      <Table.Td>
        {worktree.sessions.length === 0 && 'nobody'}
        <SessionLinks sessions={worktree.sessions.map(({ sessionId: id, name }) => ({ id, name }))} />
      </Table.Td>
      <Table.Td className="roost-mono">{worktree.head?.slice(0, 8) ?? 'none'}</Table.Td>
      <Table.Td ta="right">
        <RemoveButton node={node} worktree={worktree} />
      </Table.Td>
    </Table.Tr>
  );
}

function Named({
  nodeId,
  workspaceId,
  name,
}: {
  readonly nodeId: HubNode['id'];
  readonly workspaceId: WorkspaceId | null;
  readonly name: string;
}) {
  return workspaceId === null ? name : <Link href={workspacePath(nodeId, workspaceId)}>{name}</Link>;
}

function stateOf({ prunable, locked, workspaceId }: OtherWorktree) {
  if (prunable !== null) return { text: 'its directory is gone', tone: 'bad' } as const;
  if (locked !== null) return { text: 'locked', tone: 'wait' } as const;
  return { text: workspaceId === null ? 'no workspace yet' : 'workspace', tone: 'quiet' } as const;
}

function RemoveButton({ node, worktree }: { readonly node: HubNode; readonly worktree: OtherWorktree }) {
  const { api } = useHub();
  const queries = useQueryClient();
  const mayAct = useMay('operator');
  const { sourceWorkspaceId, path: targetRoot, mode } = worktree;
  if (!mayAct || mode !== 'manual') return null;
  return (
    <ConfirmButton
      label="Remove"
      title={`Remove the worktree ${worktreeName(worktree)}?`}
      act={() => api.node(node.id, 'worktree.remove', { sourceWorkspaceId, targetRoot })}
      onDone={() => void queries.invalidateQueries({ queryKey: nodeKey(node.id, 'worktree.list') })}
    >
      It is removed unless something in it would be lost, ignored files among it. Its branch stays; commits
      that nothing else reaches get a recovery ref.
    </ConfirmButton>
  );
}
