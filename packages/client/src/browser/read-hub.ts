// The lists of a hub, all pages of them.
import { HUB_PAGE_MAX, type NodeId } from '@roost/protocol';
import type { CallOptions, HubApi } from './hub-api.ts';
import type { HubLists } from './hub-view.ts';

/** Pages of one list that are read at most: 100,000 things, more than a page can show. */
const PAGES_MAX = 200;

/** What the hub knows now, of all nodes, or of one. @throws FailureError: as `HubApi`. */
export async function readHub(
  api: HubApi,
  options: CallOptions & { readonly nodeId?: NodeId } = {},
): Promise<HubLists> {
  const { nodeId, ...call } = options;
  const of = { limit: HUB_PAGE_MAX, ...(nodeId === undefined ? {} : { node: nodeId }) };
  const [nodes, sessions, records, workspaces] = await Promise.all([
    nodeId === undefined
      ? api.hub('nodes.list', {}, call).then((answer) => answer.nodes)
      : api.hub('nodes.show', { node: nodeId }, call).then((node) => [node]),
    allPages(async (page) => {
      const answer = await api.hub('sessions.list', { ...of, ...page, status: 'all' }, call);
      return { things: answer.sessions, next: answer.next };
    }),
    allPages(async (page) => {
      const answer = await api.hub('records.list', { ...of, ...page }, call);
      return { things: answer.records, next: answer.next };
    }),
    allPages(async (page) => {
      const answer = await api.hub('workspaces.list', { ...of, ...page }, call);
      return { things: answer.workspaces, next: answer.next };
    }),
  ]);
  return { nodes, sessions, records, workspaces };
}

async function allPages<Thing>(
  read: (page: { cursor?: string }) => Promise<{ things: readonly Thing[]; next: string | null }>,
): Promise<Thing[]> {
  const all: Thing[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < PAGES_MAX; page++) {
    const { things, next }: Awaited<ReturnType<typeof read>> = await read(cursor === null ? {} : { cursor });
    all.push(...things);
    if (next === null) break;
    cursor = next;
  }
  return all;
}
