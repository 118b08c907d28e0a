/** One workspace: its files, what git says of it, its sessions. */
import { lazy, Suspense, useState } from 'react';
import { Button, SegmentedControl } from '@mantine/core';
import { Link } from 'wouter';
import { workspaceKey } from '@roost/client/browser';
import { NodeId, WorkspaceId } from '@roost/protocol';
import { SessionCard } from '../board/session-card.tsx';
import boardStyles from '../board/board.module.css';
import { useMay, useNode, useView } from '../hub/hub-context.tsx';
import { useNodeQuery } from '../hub/queries.ts';
import { FailureAlert } from '../parts/failure-alert.tsx';
import { Empty, LoadingRows, Page } from '../parts/page.tsx';
import { isLive } from '../parts/session-words.ts';
import { LinkWord } from '../parts/status.tsx';
import { useOpenLaunch } from '../shell/launch-context.ts';
import { useWorkspaceName } from '../worktrees/workspace-name.tsx';
import { Files } from './files.tsx';

const GitChanges = lazy(() => import('./git-changes.tsx'));
const GitHistory = lazy(() => import('./git-history.tsx'));

export interface Place {
  readonly nodeId: NodeId;
  readonly workspaceId: WorkspaceId;
}

export default function WorkspacePage({
  nodeId,
  workspaceId,
}: {
  readonly nodeId: string;
  readonly workspaceId: string;
}) {
  const node = NodeId.safeParse(nodeId).data;
  const workspace = WorkspaceId.safeParse(decodeURIComponent(workspaceId)).data;
  if (node === undefined || workspace === undefined) {
    return (
      <Page title="Workspace">
        <Empty title="That is no workspace" />
      </Page>
    );
  }
  return <ShownWorkspace nodeId={node} workspaceId={workspace} />;
}

type Tab = 'files' | 'changes' | 'history' | 'sessions';

function ShownWorkspace({ nodeId, workspaceId }: Place) {
  const [tab, setTab] = useState<Tab>('files');
  const mayRead = useMay('operator');
  const node = useNode(nodeId);
  const name = useWorkspaceName(nodeId, workspaceId);
  const openLaunch = useOpenLaunch();
  const isGit = useView()?.workspaces.get(workspaceKey(nodeId, workspaceId))?.kind !== 'plain';
  const tabs: readonly { readonly value: Tab; readonly label: string }[] = [
    { value: 'files', label: 'Files' },
    ...(isGit ? [{ value: 'changes' as const, label: 'Changes' }] : []),
    ...(isGit && mayRead ? [{ value: 'history' as const, label: 'History' }] : []),
    { value: 'sessions', label: 'Sessions' },
  ];
  return (
    <Page
      title={name}
      note={
        <>
          {name !== workspaceId && <span className="roost-mono">{workspaceId}</span>}
          <span>on {node?.name ?? nodeId}</span>
          {node !== undefined && node.link.state !== 'online' && <LinkWord state={node.link.state} />}
        </>
      }
      tools={
        <>
          <SegmentedControl
            size="xs"
            aria-label="What is shown"
            value={tab}
            onChange={setTab}
            data={[...tabs]}
          />
          {mayRead && (
            <Button size="xs" variant="default" onClick={() => openLaunch({ nodeId, workspaceId })}>
              New session here
            </Button>
          )}
        </>
      }
    >
      <Suspense fallback={<LoadingRows />}>
        <TabBody tab={tab} place={{ nodeId, workspaceId }} />
      </Suspense>
    </Page>
  );
}

function TabBody({ tab, place }: { readonly tab: Tab; readonly place: Place }) {
  switch (tab) {
    case 'files':
      return <InspectedFiles place={place} />;
    case 'changes':
      return <GitChanges place={place} />;
    case 'history':
      return <GitHistory place={place} />;
    case 'sessions':
      return <Sessions place={place} />;
  }
}

function InspectedFiles({ place: { nodeId, workspaceId } }: { readonly place: Place }) {
  const inspection = useNodeQuery(nodeId, 'workspace.inspect', { workspaceId });
  if (inspection.data !== undefined)
    return (
      <Files
        place={{ nodeId, workspaceId }}
        tree={inspection.data.tree}
        isReading={inspection.isFetching}
        onReadAgain={() => void inspection.refetch()}
      />
    );
  if (inspection.error !== null)
    return (
      <FailureAlert
        error={inspection.error}
        title="The files could not be listed"
        onRetry={() => void inspection.refetch()}
      />
    );
  return <LoadingRows />;
}

function Sessions({ place: { nodeId, workspaceId } }: { readonly place: Place }) {
  const view = useView();
  const node = useNode(nodeId);
  const sessions = [...(view?.sessions.values() ?? [])]
    .filter((session) => session.nodeId === nodeId && session.workspaceId === workspaceId)
    .toSorted((a, b) => Number(isLive(b)) - Number(isLive(a)) || b.createdAt.localeCompare(a.createdAt));
  if (sessions.length === 0) {
    return (
      <Empty title="No session has run here">
        <Link href="/">All sessions</Link>
      </Empty>
    );
  }
  return (
    <ul className={boardStyles.grid}>
      {sessions.map((session) => (
        <li key={session.id}>
          <SessionCard session={session} node={node} withScreen={false} />
        </li>
      ))}
    </ul>
  );
}
