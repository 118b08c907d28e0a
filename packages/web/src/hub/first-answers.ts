import type { QueryClient } from '@tanstack/react-query';
import type { Hub } from './hub.ts';
import { hubQuery } from './queries.ts';

/** Asks who is logged in, and mirrors the hub; resolves when there is something to show, or a failure. */
export async function firstAnswers(
  hub: Pick<Hub, 'api' | 'mirror' | 'mirroring'>,
  queries: QueryClient,
): Promise<void> {
  hub.mirroring.begin();
  // A refusal is kept for whoever shows it.
  const me = queries.query(hubQuery(hub, 'me.show', {})).catch(() => undefined);
  await Promise.all([me, hasBegun(hub)]);
}

function hasBegun({ mirror }: Pick<Hub, 'mirror'>): Promise<void> {
  return new Promise((resolve) => {
    const stop = mirror.subscribe(() => {
      const { line, beginning } = mirror.state();
      if (line === 'connecting' && beginning === null) return;
      stop();
      resolve();
    });
  });
}
