/**
 * What the page asks of the hub whatever it shows: asked by a script of its own, before those of the page are there, for reading them takes
 * longer than the answers. Here as plain text, so that this script needs nothing else; a test holds it against what the page asks.
 */
export const EVENTS = '/api/v1/events';

export const ME = '/api/v1/me';

/** First pages. Read when the line of the events is there, so that they are continued by them. */
export const LISTS: readonly string[] = [
  '/api/v1/nodes',
  '/api/v1/sessions?limit=500&status=all',
  '/api/v1/records?limit=500',
  '/api/v1/workspaces?limit=500',
];

/** Nobody is logged in yet where the address is a login link. */
export function isLoginAddress(hash: string): boolean {
  return /^#\/?login\//.test(hash);
}

export function headersOf(path: string): Readonly<Record<string, string>> {
  return { accept: path === EVENTS ? 'text/event-stream' : 'application/json', 'x-roost-csrf': '1' };
}

/** A request that is under way, or answered. */
export interface AheadRequest {
  readonly response: Promise<Response>;
  readonly abort: (reason: unknown) => void;
}

declare global {
  /** By path; undefined: nothing was asked ahead. */
  var roostAhead: Map<string, AheadRequest> | undefined;
}
