// The pages that one can go to from everywhere, in the order of the navigation.
import type { HubRole } from '@roost/protocol';
import { AuditIcon, BoardIcon, FleetIcon, RecordIcon, SettingsIcon, WorktreeIcon } from '../parts/icons.tsx';

export interface PageLink {
  readonly path: string;
  readonly label: string;
  readonly icon: typeof BoardIcon;
  /** Pressed after `g`. */
  readonly key: string;
  readonly role: HubRole;
}

export const PAGES: readonly PageLink[] = [
  { path: '/', label: 'Sessions', icon: BoardIcon, key: 's', role: 'observer' },
  { path: '/fleet', label: 'Fleet', icon: FleetIcon, key: 'f', role: 'observer' },
  { path: '/records', label: 'Records', icon: RecordIcon, key: 'r', role: 'observer' },
  { path: '/worktrees', label: 'Worktrees', icon: WorktreeIcon, key: 'w', role: 'observer' },
  { path: '/audit', label: 'Audit', icon: AuditIcon, key: 'a', role: 'admin' },
  { path: '/settings', label: 'Settings', icon: SettingsIcon, key: 'x', role: 'observer' },
];

export const sessionPath = (sessionId: string): string => `/sessions/${sessionId}`;
export const workspacePath = (nodeId: string, workspaceId: string): string =>
  `/nodes/${nodeId}/workspaces/${encodeURIComponent(workspaceId)}`;
