import type { AheadRequest } from './first-requests.ts';

type Fetch = typeof globalThis.fetch;

/**
 * A `fetch` that answers with what was asked ahead, each once; what failed ahead is asked again. The answers belong together: the lists are
 * continued by the events. So once any of it was given up, nothing of the rest is taken any more.
 */
export function takingAhead(ahead: Map<string, AheadRequest>, fetch: Fetch): Fetch {
  return (input, init) => {
    const request = typeof input === 'string' ? ahead.get(input) : undefined;
    if (request === undefined || typeof input !== 'string' || (init?.method ?? 'GET') !== 'GET')
      return fetch(input, init);
    ahead.delete(input);
    const { signal } = init ?? {};
    const giveUp = () => {
      for (const one of [request, ...ahead.values()]) one.abort(signal?.reason);
      ahead.clear();
    };
    signal?.addEventListener('abort', giveUp, { once: true });
    if (signal?.aborted === true) giveUp();
    return request.response.catch(() => fetch(input, init));
  };
}
