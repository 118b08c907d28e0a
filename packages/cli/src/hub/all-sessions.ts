/** The sessions of all nodes of a hub: as each node tells them, and as the hub remembers those of nodes that it does not reach. */
import { hubRequest, nodeRequest, type HubTarget } from '@roost/client';
import type { HubNode, ParamsInput, PlacedSession, Session } from '@roost/protocol';

export interface PlacedRow {
  readonly node: HubNode;
  /** Without title and usage when it is remembered only. */
  readonly session: Session | PlacedSession;
}

/** Milliseconds for one node: a slow one does not keep the others. */
const NODE_MS = 5_000;

export async function allSessions(
  hub: HubTarget,
  nodes: readonly HubNode[],
  params: ParamsInput<'session.list'>,
): Promise<{ readonly rows: readonly PlacedRow[]; readonly truncated: boolean }> {
  const lists = await Promise.all(nodes.map((node) => sessionsOf(hub, node, params)));
  return { rows: lists.flatMap(({ rows }) => rows), truncated: lists.some(({ truncated }) => truncated) };
}

async function sessionsOf(
  hub: HubTarget,
  node: HubNode,
  params: ParamsInput<'session.list'>,
): Promise<{ readonly rows: readonly PlacedRow[]; readonly truncated: boolean }> {
  if (node.link.state === 'online') {
    try {
      const { sessions, truncated } = await nodeRequest(hub, node.id, 'session.list', params, {
        timeoutMs: NODE_MS,
      });
      return { rows: sessions.map((session) => ({ node, session })), truncated };
    } catch {
      // What the hub remembers is better than nothing; the link tells how old it is.
    }
  }
  const status = params.includeEnded === true ? 'all' : 'live';
  const { sessions, next } = await hubRequest(hub, 'sessions.list', { node: node.id, status });
  return { rows: sessions.map((session) => ({ node, session })), truncated: next !== null };
}
