import { useMantineColorScheme } from '@mantine/core';
import { Spotlight, type SpotlightActionData } from '@mantine/spotlight';
import { useLocation } from 'wouter';
import type { HubView } from '@roost/client/browser';
import { includesRole } from '@roost/protocol';
import { useMe, useView } from '../hub/hub-context.tsx';
import { isLive, stateWords } from '../parts/session-words.ts';
import { useWorkspaceNames } from '../worktrees/workspace-name.tsx';
import { useOpenLaunch } from './launch-context.ts';
import { PAGES, sessionPath, workspacePath } from './pages.ts';
import styles from './command-palette.module.css';

/** Everything that one can go to or do, by typing a part of its name. */
export function CommandPalette() {
  const view = useView();
  const { role } = useMe();
  const [, navigate] = useLocation();
  const openLaunch = useOpenLaunch();
  const { setColorScheme } = useMantineColorScheme();
  const go = (path: string) => () => navigate(path);
  const nameOf = useWorkspaceNames([...(view?.workspaces.values() ?? [])]);
  const actions: SpotlightActionData[] = [
    ...(view === null ? [] : thingsOf(view, nameOf, go)),
    ...(includesRole(role, 'operator')
      ? [{ id: 'launch', label: 'New session', description: 'Start an agent', onClick: () => openLaunch({}) }]
      : []),
    ...PAGES.filter((page) => includesRole(role, page.role)).map(({ path, label }) => ({
      id: `page ${path}`,
      label,
      description: 'Page',
      onClick: go(path),
    })),
    ...(['light', 'dark', 'auto'] as const).map((scheme) => ({
      id: `scheme ${scheme}`,
      label: scheme === 'auto' ? 'Colours as the system has them' : `Colours: ${scheme}`,
      onClick: () => setColorScheme(scheme),
    })),
  ];
  return (
    <Spotlight
      actions={actions}
      shortcut={null}
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
  const nodeName = (nodeId: string): string =>
    [...view.nodes.values()].find(({ id }) => id === nodeId)?.name ?? nodeId;
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
