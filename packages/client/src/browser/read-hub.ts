// The lists of a hub, all pages of them.
import { HUB_PAGE_MAX, type NodeId } from '@roost/protocol';
import type { CallOptions, HubApi } from './hub-api.ts';
import type { HubLists } from './hub-view.ts';

/** Pages of one list that are read at most: 100,000 things, more than a page can show. */
const PAGES_MAX = 200;

export interface ReadHubOptions extends CallOptions {
  /** Of this node alone. */
  readonly nodeId?: NodeId;
  /** Told of the first pages when there are more, before these are read: all nodes, and of sessions those first that wait for a person. */
  readonly onBeginning?: (lists: HubLists) => void;
}

interface ListPage<Thing> {
  readonly things: readonly Thing[];
  /** null: it is the last. */
  readonly next: string | null;
}

type ReadPage<Thing> = (place: { readonly cursor?: string }) => Promise<ListPage<Thing>>;

/** What the hub knows now, of all nodes, or of one. @throws FailureError: as `HubApi`. */
export async function readHub(api: HubApi, options: ReadHubOptions = {}): Promise<HubLists> {
  const { nodeId, onBeginning, ...call } = options;
  const of = { limit: HUB_PAGE_MAX, ...(nodeId === undefined ? {} : { node: nodeId }) };
  const readNodes = async () => {
    if (nodeId !== undefined) return [await api.hub('nodes.show', { node: nodeId }, call)];
    return (await api.hub('nodes.list', {}, call)).nodes;
  };
  const readSessions: ReadPage<HubLists['sessions'][number]> = async (place) => {
    const { sessions, next } = await api.hub('sessions.list', { ...of, ...place, status: 'all' }, call);
    return { things: sessions, next };
  };
  const readRecords: ReadPage<HubLists['records'][number]> = async (place) => {
    const { records, next } = await api.hub('records.list', { ...of, ...place }, call);
    return { things: records, next };
  };
  const readWorkspaces: ReadPage<HubLists['workspaces'][number]> = async (place) => {
    const { workspaces, next } = await api.hub('workspaces.list', { ...of, ...place }, call);
    return { things: workspaces, next };
  };

  const [nodes, sessions, records, workspaces] = await Promise.all([
    readNodes(),
    readSessions({}),
    readRecords({}),
    readWorkspaces({}),
  ]);
  if ([sessions, records, workspaces].some(({ next }) => next !== null))
    onBeginning?.({
      nodes,
      sessions: sessions.things,
      records: records.things,
      workspaces: workspaces.things,
    });
  const [allSessions, allRecords, allWorkspaces] = await Promise.all([
    allPages(sessions, readSessions),
    allPages(records, readRecords),
    allPages(workspaces, readWorkspaces),
  ]);
  return { nodes, sessions: allSessions, records: allRecords, workspaces: allWorkspaces };
}

async function allPages<Thing>(first: ListPage<Thing>, read: ReadPage<Thing>): Promise<Thing[]> {
  const all = [...first.things];
  let cursor = first.next;
  for (let pages = 1; pages < PAGES_MAX && cursor !== null; pages++) {
    const { things, next } = await read({ cursor });
    all.push(...things);
    cursor = next;
  }
  return all;
}
