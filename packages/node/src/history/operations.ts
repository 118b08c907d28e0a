// The operations on sessions that providers keep. They share slots of their own: who comes beyond these is told to come again.
import { FailureError, HIDDEN, HistoryEntry, HistoryReadCursor, type HistoryId } from '@roost/protocol';
import { findProvider } from '@roost/providers';
import type { Caller, Handlers } from '../control/handlers.ts';
import { Slots } from '../control/slots.ts';
import type { Store } from '../store/store.ts';
import { findWorkspace, listWorkspaces } from '../workspaces/workspaces.ts';
import { adoptSession } from './adopt.ts';
import type { HistoryCatalog } from './catalog.ts';
import { previewed } from './conversation.ts';
import { entryOf, usable } from './entry.ts';
import type { FoundSession } from './found-session.ts';
import { pageOf, rootsOf, Views } from './views.ts';

export interface HistoryScene {
  readonly store: Store;
  readonly catalog: HistoryCatalog;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Requests of all connections that may be under way at once: each waits for the disk most of the time. */
export const HISTORY_SLOTS = 8;

type HistoryOperation = Extract<keyof Handlers, `history.${string}`>;

export function historyOperations(
  { store, catalog, now }: HistoryScene,
  slots = new Slots(HISTORY_SLOTS),
): Pick<Handlers, HistoryOperation> {
  const views = new Views(catalog.places, now);

  const show = (session: FoundSession, roots = rootsOf(listWorkspaces(store.sql))): HistoryEntry =>
    entryOf(store.sql, session, views.belonging(session, roots));

  /** The session, as long as the caller may know of it. */
  const locate = async (caller: Caller, historyId: HistoryId): Promise<FoundSession> => {
    const found = await catalog.session(historyId);
    const seen = found === null ? null : { value: found, view: show(found) };
    return usable(caller, seen, historyId);
  };

  return {
    'history.list': ({ provider = null, scope, window, limit, cursor }) =>
      slots.run(async () => {
        if (provider !== null) requireHistory(catalog, provider);
        if (scope.kind === 'workspace' && findWorkspace(store.sql, scope.workspaceId) === null) {
          throw new FailureError('unknown-workspace', { workspaceId: scope.workspaceId });
        }
        const question = { provider, scope };
        const [revision, ofWindow, after] = cursor?.split('-') ?? [];
        // Who goes on makes nobody look again.
        const found = revision === undefined ? await catalog.look(provider) : null;
        const workspaces = listWorkspaces(store.sql);
        const view =
          found === null
            ? views.at(revision ?? '', question, workspaces)
            : views.of(question, found, workspaces);
        if (cursor !== undefined && ofWindow !== window) throw new FailureError('stale-history-cursor');
        const page = pageOf(view, { window, limit, after: after ?? null });
        const roots = rootsOf(workspaces);
        const { skipped, incomplete } = view.catalog;
        return {
          entries: page.sessions.map((session) => show(session, roots)),
          revision: view.revision,
          cutoff: new Date(view.cutoff).toISOString(),
          recent: view.recent,
          older: view.sessions.length - view.recent,
          remaining: page.remaining,
          nextCursor: page.nextCursor,
          skipped,
          incomplete,
        };
      }),

    'history.resolve': ({ selector }, caller) =>
      slots.run(async () => {
        const roots = rootsOf(listWorkspaces(store.sql));
        const seen = (await catalog.find(selector))
          .map((session) => show(session, roots))
          .filter((entry) => caller.projection.show(HistoryEntry, entry) !== HIDDEN);
        const [only] = seen;
        if (only === undefined) throw new FailureError('unknown-history-session', { selector });
        if (seen.length === 1) return only;
        const candidates = seen.slice(0, CANDIDATES_TOLD_MAX).map(({ id }) => id);
        throw new FailureError('ambiguous-history-session', { selector, candidates });
      }),

    'history.preview': ({ historyId, limit }, caller) =>
      slots.run(async () => {
        const session = await locate(caller, historyId);
        const { conversation, isCut } = await catalog.keep(session).newest(limit);
        const messages = conversation.messages().map(previewed);
        return { entry: show(session), messages, hasEarlier: isCut || conversation.count > messages.length };
      }),

    'history.read': ({ historyId, limit, cursor }, caller) =>
      slots.run(async () => {
        const session = await locate(caller, historyId);
        const [number, identity] = cursor?.split('-') ?? [];
        const first = Number(number ?? 0);
        const kept = catalog.keep(session);
        const read = await kept.read({ kind: 'from', first, limit });
        const total = read.conversation.count;
        if (cursor !== undefined && (identity !== read.identity || first > total)) {
          throw new FailureError('stale-history-cursor', { historyId });
        }
        const messages = read.conversation.messages();
        const next = first + messages.length;
        return {
          entry: show(session),
          messages,
          first,
          total,
          nextCursor: next < total ? HistoryReadCursor.parse(`${next}-${read.identity}`) : null,
          usage: read.usage,
          skippedLines: read.skippedLines,
        };
      }),

    'history.adopt': ({ historyId, name = null }, caller) =>
      slots.run(async () => adoptSession({ store, catalog }, caller, await locate(caller, historyId), name)),
  };
}

const CANDIDATES_TOLD_MAX = 16;

/** @throws FailureError: unknown-provider, history-unsupported. */
function requireHistory(catalog: HistoryCatalog, provider: string): void {
  if (catalog.has(provider)) return;
  throw new FailureError(findProvider(provider) === null ? 'unknown-provider' : 'history-unsupported', {
    provider,
  });
}
