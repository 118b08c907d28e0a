// Lists as they are shown: which sessions belong where, in which order, under which revision. A few of the last ones are kept, so that
// whoever turns pages goes on in the list in which they began.
import { createHash } from 'node:crypto';
import { basename, dirname, relative } from 'node:path';
import {
  FailureError,
  HISTORY_RECENT_MS,
  HistoryCursor,
  RepositoryPath,
  type HistoryEntry,
  type HistoryScope,
  type HistoryWindow,
  type Workspace,
} from '@roost/protocol';
import { cutToBytes } from '@roost/providers';
import type { Catalog } from './catalog.ts';
import type { FoundSession } from './found-session.ts';
import type { Places } from './places.ts';

/** Lists that are kept: some people and programs turn pages at once. */
const VIEWS_MAX = 8;
/** Milliseconds until what counts as recent is decided anew. */
const CUTOFF_MS = 60 * 60 * 1_000;
const GROUP_NAME_BYTES_MAX = 256;

export type OwnWorkspace = Pick<Workspace, 'id' | 'root'>;

/** Where a session ran. */
export interface Belonging {
  readonly workspace: OwnWorkspace | null;
  /** null: nobody knows. */
  readonly directory: string | null;
}

interface Question {
  readonly provider: string | null;
  readonly scope: HistoryScope;
}

export interface View {
  readonly revision: string;
  /** Milliseconds since 1970. */
  readonly cutoff: number;
  readonly sessions: readonly FoundSession[];
  /** How many of them, the first ones, changed at the cutoff or later. */
  readonly recent: number;
  readonly catalog: Catalog;
}

interface KeptView {
  readonly view: View;
  readonly question: string;
  readonly ownership: string;
  readonly madeAt: number;
}

export class Views {
  /** The oldest first. */
  #kept: KeptView[] = [];
  readonly #now: () => number;
  readonly #places: Pick<Places, 'of'>;

  /** `now`: milliseconds since 1970. */
  constructor(places: Pick<Places, 'of'>, now: () => number) {
    this.#places = places;
    this.#now = now;
  }

  /** The list of what there is now. */
  of(question: Question, catalog: Catalog, workspaces: readonly OwnWorkspace[]): View {
    const asked = JSON.stringify(question);
    const ownership = ownershipOf(workspaces);
    const now = this.#now();
    const known = this.#kept.find(
      (one) =>
        one.question === asked &&
        one.ownership === ownership &&
        one.view.catalog === catalog &&
        now - one.madeAt < CUTOFF_MS,
    );
    if (known !== undefined) return known.view;
    const view = this.#make(question, catalog, workspaces, asked + ownership);
    const others = this.#kept.filter((one) => one.view.revision !== view.revision);
    this.#kept = [...others, { view, question: asked, ownership, madeAt: now }].slice(-VIEWS_MAX);
    return view;
  }

  /** The list that the cursor is of. @throws FailureError: stale-history-cursor. */
  at(revision: string, question: Question, workspaces: readonly OwnWorkspace[]): View {
    const kept = this.#kept.find(({ view }) => view.revision === revision);
    const isOf = kept?.question === JSON.stringify(question) && kept.ownership === ownershipOf(workspaces);
    if (!isOf) throw new FailureError('stale-history-cursor');
    return kept.view;
  }

  /** Which workspace it is of: the deepest around the directory that it ran in. */
  belonging({ summary }: FoundSession, workspaces: ReadonlyMap<string, OwnWorkspace>): Belonging {
    const directory = this.#places.of(summary.directory);
    return { directory, workspace: directory === null ? null : deepestAround(directory, workspaces) };
  }

  #make({ scope }: Question, catalog: Catalog, workspaces: readonly OwnWorkspace[], salt: string): View {
    const byRoot = rootsOf(workspaces);
    const sessions = catalog.sessions.filter((session) => {
      if (scope.kind === 'all') return true;
      const { workspace } = this.belonging(session, byRoot);
      return scope.kind === 'workspace' ? workspace?.id === scope.workspaceId : workspace === null;
    });
    const cutoff = this.#now() - HISTORY_RECENT_MS;
    const hash = createHash('sha256').update(`${salt}\0${cutoff}`);
    for (const { id, modifiedAt } of sessions) hash.update(`\0${id}${modifiedAt}`);
    const firstOlder = sessions.findIndex(({ modifiedAt }) => modifiedAt < cutoff);
    return {
      revision: hash.digest('hex').slice(0, 16),
      cutoff,
      sessions,
      recent: firstOlder === -1 ? sessions.length : firstOlder,
      catalog,
    };
  }
}

export function rootsOf(workspaces: readonly OwnWorkspace[]): Map<string, OwnWorkspace> {
  return new Map(workspaces.map((workspace) => [workspace.root, workspace]));
}

function deepestAround(
  directory: string,
  workspaces: ReadonlyMap<string, OwnWorkspace>,
): OwnWorkspace | null {
  for (let at = directory; ; at = dirname(at)) {
    const found = workspaces.get(at);
    if (found !== undefined) return found;
    if (at === dirname(at)) return null;
  }
}

/** Where in the workspace; null: at its root, or at a path that has no name there. */
export function placeIn({ workspace, directory }: Belonging): RepositoryPath | null {
  if (workspace === null || directory === null) return null;
  return RepositoryPath.safeParse(relative(workspace.root, directory)).data ?? null;
}

/** Those outside of all workspaces that ran in the same directory, which is told by its last part alone. */
export function groupOf({ workspace, directory }: Belonging): HistoryEntry['group'] {
  if (workspace !== null) return null;
  const digest = createHash('sha256')
    .update(directory ?? '')
    .digest('hex');
  const id = `external-${digest.slice(0, 8)}`;
  if (directory === null) return { kind: 'global', id, name: 'unknown' };
  const name = cutToBytes(basename(directory).toWellFormed(), GROUP_NAME_BYTES_MAX) || 'project';
  return { kind: 'project', id, name };
}

/** Changes when a workspace comes or goes. */
function ownershipOf(workspaces: readonly OwnWorkspace[]): string {
  return JSON.stringify(workspaces.map(({ id, root }) => [id, root]));
}

export interface Page {
  readonly sessions: readonly FoundSession[];
  readonly remaining: number;
  readonly nextCursor: HistoryCursor | null;
}

/** `after`: the id of the last one of the page before. @throws FailureError: stale-history-cursor. */
export function pageOf(
  view: View,
  { window, limit, after }: { window: HistoryWindow; limit: number; after: string | null },
): Page {
  const all = inWindow(view, window);
  const begin = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
  if (after !== null && begin === 0) throw new FailureError('stale-history-cursor');
  const sessions = all.slice(begin, begin + limit);
  const remaining = all.length - begin - sessions.length;
  const last = sessions.at(-1);
  const cursor = remaining > 0 && last !== undefined ? `${view.revision}-${window}-${last.id}` : null;
  return { sessions, remaining, nextCursor: cursor === null ? null : HistoryCursor.parse(cursor) };
}

function inWindow({ sessions, recent }: View, window: HistoryWindow): readonly FoundSession[] {
  switch (window) {
    case 'recent':
      return sessions.slice(0, recent);
    case 'older':
      return sessions.slice(recent);
    case 'all':
      return sessions;
  }
}
