/** The hub for every part of the page. */
import { createContext, useContext, useSyncExternalStore, type ReactNode } from 'react';
import type { HubView, MirrorState } from '@roost/client/browser';
import { includesRole, type HubNode, type HubRole, type NodeId, type Whoami } from '@roost/protocol';
import type { Hub } from './hub.ts';

const HubContext = createContext<Hub | null>(null);
const MeContext = createContext<Whoami | null>(null);

export function HubProvider({ hub, children }: { readonly hub: Hub; readonly children: ReactNode }) {
  return <HubContext value={hub}>{children}</HubContext>;
}

export function MeProvider({ me, children }: { readonly me: Whoami; readonly children: ReactNode }) {
  return <MeContext value={me}>{children}</MeContext>;
}

export function useHub(): Hub {
  const hub = useContext(HubContext);
  if (hub === null) throw new Error('there is no hub around this');
  return hub;
}

export function useMe(): Whoami {
  const me = useContext(MeContext);
  if (me === null) throw new Error('nobody is logged in around this');
  return me;
}

/** Whether the one who is logged in may do what needs this role. */
export function useMay(role: HubRole): boolean {
  return includesRole(useMe().role, role);
}

export function useMirror(): MirrorState {
  const { mirror } = useHub();
  return useSyncExternalStore(mirror.subscribe, mirror.state);
}

/** null until the lists were read for the first time, to their ends. */
export function useView(): HubView | null {
  return useMirror().view;
}

/** The view, or while it is read its beginning, from which no one can tell that something is not there. */
export function useViewSoFar(): HubView | null {
  const { view, beginning } = useMirror();
  return view ?? beginning;
}

/** undefined: the hub has no such node. */
export function useNode(nodeId: NodeId): HubNode | undefined {
  return useViewSoFar()?.nodes.get(nodeId);
}
