// Which sessions the board shows, and in which order: pure.
import type { HubView, SeenSession } from '@roost/client/browser';
import type { NodeId } from '@roost/protocol';
import { isLive, waitsForPerson } from '../parts/session-words.ts';

export interface BoardFilter {
  /** In the name, provider, workspace or node, or the start of the id; letters of either case. */
  readonly search: string;
  readonly show: 'live' | 'ended' | 'all';
  /** null: any. */
  readonly nodeId: NodeId | null;
  readonly provider: string | null;
}

export const EVERYTHING_LIVE: BoardFilter = { search: '', show: 'live', nodeId: null, provider: null };

type BoardSection = 'waiting' | 'done' | 'running' | 'ended';

export interface BoardGroup {
  readonly section: BoardSection;
  readonly sessions: readonly SeenSession[];
}

const SECTIONS: readonly BoardSection[] = ['waiting', 'done', 'running', 'ended'];

/** Sessions in the groups that need a person soonest first; groups without any are left out. */
export function boardGroups(view: HubView, filter: BoardFilter): BoardGroup[] {
  const shown = [...view.sessions.values()].filter((session) => matches(view, session, filter));
  return SECTIONS.map((section) => ({
    section,
    sessions: shown.filter((session) => sectionOf(session) === section).toSorted(ORDERS[section]),
  })).filter(({ sessions }) => sessions.length > 0);
}

function sectionOf(session: SeenSession): BoardSection {
  if (!isLive(session)) return 'ended';
  if (waitsForPerson(session)) return 'waiting';
  return session.activity?.state === 'done' ? 'done' : 'running';
}

/** Providers of all sessions, by name. */
export function providersOf(view: HubView): string[] {
  return [...new Set([...view.sessions.values()].map(({ provider }) => provider))].toSorted();
}

function matches(view: HubView, session: SeenSession, filter: BoardFilter): boolean {
  if (filter.show !== 'all' && isLive(session) !== (filter.show === 'live')) return false;
  if (filter.nodeId !== null && session.nodeId !== filter.nodeId) return false;
  if (filter.provider !== null && session.provider !== filter.provider) return false;
  const search = filter.search.trim().toLowerCase();
  if (search === '') return true;
  const texts = [
    session.name,
    session.provider,
    session.workspaceId,
    view.nodes.get(session.nodeId)?.name ?? '',
  ];
  return session.id.startsWith(search) || texts.some((text) => text.toLowerCase().includes(search));
}

type Order = (a: SeenSession, b: SeenSession) => number;

const sinceOf = ({ activity, createdAt }: SeenSession): string => activity?.since ?? createdAt;
const longestFirst: Order = (a, b) => sinceOf(a).localeCompare(sinceOf(b)) || byId(a, b);
const byId: Order = (a, b) => a.id.localeCompare(b.id);

const ORDERS: Readonly<Record<BoardSection, Order>> = {
  waiting: longestFirst,
  done: longestFirst,
  // By when they were started, which does not change: cards that work stay where they are.
  running: (a, b) => b.createdAt.localeCompare(a.createdAt) || byId(a, b),
  ended: (a, b) => (b.endedAt ?? '').localeCompare(a.endedAt ?? '') || byId(a, b),
};
