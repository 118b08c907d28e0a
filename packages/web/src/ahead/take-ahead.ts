import type { AheadRequest } from './first-requests.ts';

type Fetch = typeof globalThis.fetch;

/** A `fetch` that answers with what was asked ahead, each once; what failed ahead is asked again. */
export function takingAhead(ahead: Map<string, AheadRequest>, fetch: Fetch): Fetch {
  return (input, init) => {
    const request = typeof input === 'string' ? ahead.get(input) : undefined;
    if (request === undefined || typeof input !== 'string' || (init?.method ?? 'GET') !== 'GET')
      return fetch(input, init);
    ahead.delete(input);
    const { signal } = init ?? {};
    signal?.addEventListener('abort', () => request.abort(signal.reason), { once: true });
    if (signal?.aborted === true) request.abort(signal.reason);
    return request.response.catch(() => fetch(input, init));
  };
}
