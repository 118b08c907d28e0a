import { EVENTS, headersOf, isLoginAddress, LISTS, ME, type AheadRequest } from './first-requests.ts';

function ask(path: string, after: Promise<unknown> = Promise.resolve()): AheadRequest {
  const line = new AbortController();
  const { signal } = line;
  const request: RequestInit = {
    signal,
    headers: headersOf(path),
    credentials: 'same-origin',
    redirect: 'error',
  };
  const response = after.then(() => fetch(path, request));
  // Told to whoever takes it; nobody may.
  response.catch(() => undefined);
  return { response, abort: (reason) => line.abort(reason) };
}

if (!isLoginAddress(location.hash)) {
  const events = ask(EVENTS);
  const isThere = events.response.then(({ ok }) => (ok ? undefined : Promise.reject(new Error('no events'))));
  globalThis.roostAhead = new Map([
    [EVENTS, events],
    [ME, ask(ME)],
    ...LISTS.map((path) => [path, ask(path, isThere)] as const),
  ]);
}
