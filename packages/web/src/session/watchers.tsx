/** Who else has the terminal of a session open, and which of them drives. */
import { useEffect } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { SeenSession } from '@roost/client/browser';
import type { SessionId } from '@roost/protocol';
import { useHub } from '../hub/hub-context.tsx';
import { isDriverless, otherWatchers, type Onlooker, type WatchedTerminal } from './other-watchers.ts';
import styles from './terminal-pane.module.css';

/** Milliseconds between two looks: at what an event may have been lost of, and at those of whom there are no events. */
const LOOK_MS = 10_000;
/** Milliseconds after which a node counts right who has left. */
const SETTLE_MS = 500;
/** Names that are shown before the rest is only counted. */
const NAMES_MAX = 4;

type Watched = Pick<WatchedTerminal, 'watchers' | 'attachedClients'>;

export function Watchers({ terminal }: { readonly terminal: WatchedTerminal }) {
  const others = otherWatchers(terminal);
  const rest = others.slice(NAMES_MAX);
  if (others.length === 0 && !isDriverless(terminal)) return null;
  return (
    <ul className={styles.watchers} aria-label="Who else is here">
      {isDriverless(terminal) && <li>nobody drives</li>}
      {others.slice(0, NAMES_MAX).map((other, index) => (
        <li key={index} data-drives={other.drives === true || undefined}>
          {deedText(other)}
        </li>
      ))}
      {rest.length > 0 && <li title={rest.map(deedText).join(', ')}>and {rest.length} more</li>}
    </ul>
  );
}

function deedText({ name, drives }: Onlooker): string {
  return drives === null ? name : `${name} ${drives ? 'drives' : 'watches'}`;
}

/** null: nothing is known yet. */
export function useWatched({ id, nodeId }: SeenSession): Watched | null {
  const { api, mirror } = useHub();
  const queries = useQueryClient();
  const seen = useQuery<Watched>({
    queryKey: watchedKey(id),
    queryFn: async ({ signal }) => {
      const [{ watchers }, session] = await Promise.all([
        api.hub('sessions.watchers', { sessionId: id }, { signal }),
        // Of a node that is away, only those are known whom the hub sees.
        api.node(nodeId, 'session.resolve', { selector: id }, { signal }).catch(() => null),
      ]);
      return { watchers, attachedClients: session?.attachedClients ?? null };
    },
    refetchInterval: LOOK_MS,
  });
  useEffect(() => {
    let settling: ReturnType<typeof setTimeout> | undefined;
    const stop = mirror.onEvent(({ body }) => {
      if (body.kind !== 'watchers-changed' || body.sessionId !== id) return;
      const { watchers } = body;
      clearTimeout(settling);
      settling = setTimeout(() => void queries.invalidateQueries({ queryKey: watchedKey(id) }), SETTLE_MS);
      // A count of before somebody left would make up a stranger.
      void queries
        .cancelQueries({ queryKey: watchedKey(id) })
        .then(() => queries.setQueryData<Watched>(watchedKey(id), { watchers, attachedClients: null }));
    });
    return () => {
      clearTimeout(settling);
      stop();
    };
  }, [mirror, queries, id]);
  return seen.data ?? null;
}

const watchedKey = (id: SessionId) => ['watched', id];
