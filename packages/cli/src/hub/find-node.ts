/** Which node a selector means, at a hub. */
import { hubRequest, type HubTarget } from '@roost/client';
import { FailureError, LIVE_STATUSES, type NodeId, type PlacedSession } from '@roost/protocol';

/** Digits of an id that may stand for it. */
const PREFIX_MIN = 2;

/** `NODE/NAME`; the node is null where none is named. */
export function splitAddress(selector: string): { readonly node: string | null; readonly name: string } {
  const at = selector.indexOf('/');
  return at < 0
    ? { node: null, name: selector }
    : { node: selector.slice(0, at), name: selector.slice(at + 1) };
}

/** The node of the one session of that name, id, or start of an id; null when no node has one. @throws FailureError: ambiguous-session. */
export async function nodeOfSession(hub: HubTarget, selector: string): Promise<NodeId | null> {
  const sessions = await found(hub, selector);
  const named = sessions.filter(({ name }) => name === selector);
  const live = named.filter(isLive);
  const starting = selector.length < PREFIX_MIN ? [] : sessions.filter(({ id }) => id.startsWith(selector));
  const matches = [live, named, starting].find((some) => some.length > 0) ?? [];
  const nodes = new Map(matches.map(({ nodeId, nodeName, name }) => [nodeId, `${nodeName}/${name}`]));
  if (nodes.size > 1) throw new FailureError('ambiguous-session', { selector, matches: [...nodes.values()] });
  return [...nodes.keys()][0] ?? null;
}

/** All pages: the search finds more than the name. */
async function found(hub: HubTarget, search: string): Promise<PlacedSession[]> {
  const all: PlacedSession[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await hubRequest(hub, 'sessions.list', {
      search,
      status: 'all',
      ...(cursor === undefined ? {} : { cursor }),
    });
    all.push(...page.sessions);
    if (page.next === null) return all;
    cursor = page.next;
  }
}

function isLive({ status }: PlacedSession): boolean {
  return LIVE_STATUSES.includes(status);
}
