import { createContext, useContext } from 'react';
import type { NodeId, WorkspaceId } from '@roost/protocol';

/** What a launch begins with; the rest is asked. */
export interface LaunchPreset {
  readonly nodeId?: NodeId;
  readonly workspaceId?: WorkspaceId;
}

export type OpenLaunch = (preset: LaunchPreset) => void;

export const LaunchContext = createContext<OpenLaunch>(() => undefined);

/** Opens the dialog that starts a session. */
export function useOpenLaunch(): OpenLaunch {
  return useContext(LaunchContext);
}
