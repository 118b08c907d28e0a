import { useEffect, useMemo } from 'react';
import { useMantineColorScheme } from '@mantine/core';
import { createSpotlight, Spotlight, useSpotlight, type SpotlightActionData } from '@mantine/spotlight';
import { useLocation } from 'wouter';
import type { HubView } from '@roost/client/browser';
import { includesRole, type NodeId } from '@roost/protocol';
import { useMe, useView } from '../hub/hub-context.tsx';
import { isLive, stateWords } from '../parts/session-words.ts';
import { useOpenLaunch } from './launch-context.ts';
import { PAGES, sessionPath, workspacePath } from './pages.ts';
import styles from './command-palette.module.css';

const [store, palette] = createSpotlight();

/** Everything that one can go to or do, by typing a part of its name. It opens with every new number of calls. */
export function CommandPalette({ calls }: { readonly calls: number }) {
  useEffect(() => palette.open(), [calls]);
  const { opened } = useSpotlight(store);
  const view = useView();
  const { role } = useMe();
  const [, navigate] = useLocation();
  const openLaunch = useOpenLaunch();
  const { setColorScheme } = useMantineColorScheme();
  // There may be thousands, and something changes all the time.
  const things = useMemo(
    () => (opened && view !== null ? thingsOf(view, (path) => () => navigate(path)) : []),
    [opened, view, navigate],
  );
  const actions: SpotlightActionData[] = [
    ...things,
    ...(includesRole(role, 'operator')
      ? [{ id: 'launch', label: 'New session', description: 'Start an agent', onClick: () => openLaunch({}) }]
      : []),
    ...PAGES.filter((page) => includesRole(role, page.role)).map(({ path, label }) => ({
      id: `page ${path}`,
      label,
      description: 'Page',
      onClick: () => navigate(path),
    })),
    ...(['light', 'dark', 'auto'] as const).map((scheme) => ({
      id: `scheme ${scheme}`,
      label: scheme === 'auto' ? 'Colours as the system has them' : `Colours: ${scheme}`,
      onClick: () => setColorScheme(scheme),
    })),
  ];
  return (
    <Spotlight
      store={store}
      actions={actions}
      shortcut={null}
      transitionProps={{ exitDuration: 0 }}
      nothingFound="Nothing has that name"
      limit={12}
      scrollable
      maxHeight={420}
      lockScroll={false}
      classNames={{ actionDescription: styles.description }}
      attributes={{ content: { 'aria-label': 'Go to' } }}
      searchProps={{ placeholder: 'Session, workspace, node or page', 'aria-label': 'Go to' }}
    />
  );
}

function thingsOf(view: HubView, go: (path: string) => () => void): SpotlightActionData[] {
  const nodeName = (nodeId: NodeId): string => view.nodes.get(nodeId)?.name ?? nodeId;
  const sessions = [...view.sessions.values()]
    .toSorted((a, b) => Number(isLive(b)) - Number(isLive(a)) || b.createdAt.localeCompare(a.createdAt))
    .map((session) => ({
      id: `session ${session.id}`,
      label: session.name,
      description: `${session.provider} on ${nodeName(session.nodeId)}, ${stateWords(session).text}`,
      keywords: [session.id, session.workspaceId],
      onClick: go(sessionPath(session.id)),
    }));
  const workspaces = [...view.workspaces.values()].map((workspace) => ({
    id: `workspace ${workspace.nodeId} ${workspace.id}`,
    label: workspace.id,
    description: `Workspace on ${nodeName(workspace.nodeId)}`,
    onClick: go(workspacePath(workspace.nodeId, workspace.id)),
  }));
  return [...sessions, ...workspaces];
}
