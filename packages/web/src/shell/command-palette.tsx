import { useEffect } from 'react';
import { useMantineColorScheme } from '@mantine/core';
import { createSpotlight, Spotlight, useSpotlight, type SpotlightActionData } from '@mantine/spotlight';
import { useLocation } from 'wouter';
import type { HubView } from '@roost/client/browser';
import { includesRole, type NodeId } from '@roost/protocol';
import { useMe, useView } from '../hub/hub-context.tsx';
import { isLive, stateWords } from '../parts/session-words.ts';
import { useWorkspaceNames } from '../worktrees/workspace-name.tsx';
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
  const shown = opened ? view : null;
  const nameOf = useWorkspaceNames([...(shown?.workspaces.values() ?? [])]);
  const actions: SpotlightActionData[] = [
    ...(shown === null ? [] : thingsOf(shown, nameOf, (path) => () => navigate(path))),
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

function thingsOf(
  view: HubView,
  nameOf: ReturnType<typeof useWorkspaceNames>,
  go: (path: string) => () => void,
): SpotlightActionData[] {
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
    label: nameOf(workspace.nodeId, workspace.id),
    description: `Workspace on ${nodeName(workspace.nodeId)}`,
    keywords: [workspace.id],
    onClick: go(workspacePath(workspace.nodeId, workspace.id)),
  }));
  return [...sessions, ...workspaces];
}
