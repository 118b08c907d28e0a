// The hub itself and its nodes.
import type { HubNode } from '@roost/protocol';
import { seesNode, type Principal } from '../access/principal.ts';
import { visibleNode } from '../access/visible.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { known } from './access-handlers.ts';
import type { HubContext } from './context.ts';
import { findNode } from './find-node.ts';
import type { HubHandlers } from './handlers.ts';

type NodeHandlers = Pick<
  HubHandlers,
  'hub.status' | 'hub.shutdown' | 'nodes.list' | 'nodes.show' | 'nodes.rename' | 'nodes.remove'
>;

export function nodeHandlers(context: HubContext): NodeHandlers {
  const { fleet, hubId, lines, version, startedAt, place } = context;
  return {
    'hub.status': (_, caller) => {
      const nodes = visibleNodes(fleet, known(caller));
      return {
        hubId,
        run: fleet.run,
        version,
        pid: process.pid,
        startedAt: startedAt.toISOString(),
        url: place().url,
        nodes: { enrolled: nodes.length, online: nodes.filter(({ link }) => link.state === 'online').length },
        sessions: {
          live: nodes.reduce((sum, { sessions }) => sum + sessions.live, 0),
          blocked: nodes.reduce((sum, { sessions }) => sum + sessions.blocked, 0),
        },
        clients: lines.count,
        residentBytes: process.memoryUsage.rss(),
      };
    },
    'hub.shutdown': () => {
      context.requestStop();
      return {};
    },
    'nodes.list': (_, caller) => ({ nodes: visibleNodes(fleet, known(caller)) }),
    'nodes.show': ({ node }, caller) => {
      const principal = known(caller);
      return visibleNode(principal, findNode(fleet, node, principal), (nodeId) => fleet.view(nodeId));
    },
    'nodes.rename': ({ node, name }, caller) => fleet.rename(findNode(fleet, node, known(caller)).id, name),
    'nodes.remove': ({ node }, caller) => {
      const principal = known(caller);
      // Whoever sees all nodes also ends the enrolment of one that cannot be served.
      const nodeId =
        principal.scope === null ? fleet.findEnrolled(node) : findNode(fleet, node, principal).id;
      fleet.remove(nodeId);
      return { nodeId };
    },
  };
}

/** By name. */
function visibleNodes(fleet: Fleet, principal: Principal): HubNode[] {
  return fleet
    .nodes()
    .filter(({ id }) => seesNode(principal, id))
    .map((node) => visibleNode(principal, node, (nodeId) => fleet.view(nodeId)));
}
