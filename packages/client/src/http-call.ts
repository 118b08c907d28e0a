// How an operation is asked for over HTTP: `hub/http-route.ts` of the protocol, from the side of the client.
import { API_PREFIX, type HttpMethod, type HttpRoute } from '@roost/protocol';

export interface HttpCall {
  readonly method: HttpMethod;
  /** With its query, beneath the address of the hub. */
  readonly path: string;
  /** JSON; undefined for a GET or DELETE. */
  readonly body: string | undefined;
}

/** @throws Error when a parameter that the path needs is missing: a fault of the caller. */
export function httpCall(route: HttpRoute, params: Readonly<Record<string, unknown>>): HttpCall {
  const rest = new Map(Object.entries(params).filter(([, value]) => value !== undefined));
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest.get(name);
    if (typeof value !== 'string' && typeof value !== 'number') throw new Error(`${name} is missing`);
    rest.delete(name);
    return encodeURIComponent(value);
  });
  if (route.method !== 'GET' && route.method !== 'DELETE') {
    return {
      method: route.method,
      path: `${API_PREFIX}${path}`,
      body: JSON.stringify(Object.fromEntries(rest)),
    };
  }
  const query = new URLSearchParams([...rest].flatMap(([name, value]) => queryOf(name, value))).toString();
  return {
    method: route.method,
    path: `${API_PREFIX}${path}${query === '' ? '' : `?${query}`}`,
    body: undefined,
  };
}

function queryOf(name: string, value: unknown): [string, string][] {
  if (typeof value === 'string') return [[name, value]];
  if (typeof value === 'number' || typeof value === 'boolean') return [[name, String(value)]];
  if (isTexts(value)) return value.map((one) => [name, one]);
  return [[name, JSON.stringify(value)]];
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
