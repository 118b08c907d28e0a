/**
 * A hub's HTTP API, typed by the tables of the protocol. Runs wherever there is a `fetch`: in browsers, which send their cookie, and in
 * programs, which send a token.
 */
import {
  CSRF_HEADER,
  DEADLINE_HEADER,
  FailureError,
  HUB_OPERATIONS,
  INCARNATION_HEADER,
  NODE_ROUTES,
  OPERATIONS,
  type HubOperationName,
  type HubParamsInput,
  type HubResult,
  type HttpRoute,
  type Incarnation,
  type NodeId,
  type OperationName,
  type ParamsInput,
  type Result,
} from '@roost/protocol';
import { ONE_SHOT, parseJsonText } from '../frame-value.ts';
import { httpCall } from '../http-call.ts';
import { failureOfProblem } from '../problem.ts';

/** Milliseconds that an answer may take unless the caller says otherwise. */
const REQUEST_TIMEOUT_MS = 40_000;
/** Milliseconds for the way: who answers gives up first, and says so. */
const WAY_MS = 5_000;

export interface HubApiOptions {
  readonly fetch: typeof globalThis.fetch;
  /** Origin of the hub, without a slash at the end; empty for that of the page. */
  readonly baseUrl: string;
  /** A personal token, where there is no cookie. */
  readonly token?: string;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds that it may take; the call then fails with `request-timed-out`, but may still land. */
  readonly timeoutMs?: number;
}

export interface NodeCallOptions extends CallOptions {
  /** Refused with `stale-incarnation` when the node was started anew since. */
  readonly incarnation?: Incarnation;
}

export interface HubApi {
  /** @throws FailureError: what the hub refuses with; hub-unreachable; request-timed-out. */
  hub<Name extends HubOperationName>(
    name: Name,
    params: HubParamsInput<Name>,
    options?: CallOptions,
  ): Promise<HubResult<Name>>;
  /** Asks something of a node through the hub. @throws FailureError: as `hub`, and what the node refuses with. */
  node<Name extends OperationName>(
    nodeId: NodeId,
    name: Name,
    params: ParamsInput<Name>,
    options?: NodeCallOptions,
  ): Promise<Result<Name>>;
  /** Opens a stream of the hub's API, at a path beneath its address. @throws FailureError: as `hub`. */
  open(path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response>;
}

export function hubApi(options: HubApiOptions): HubApi {
  const call = async (
    route: HttpRoute,
    params: Readonly<Record<string, unknown>>,
    { signal, timeoutMs, incarnation }: NodeCallOptions,
  ): Promise<unknown> => {
    const { method, path, body } = httpCall(route, params);
    const timeout = AbortSignal.timeout((timeoutMs ?? REQUEST_TIMEOUT_MS) + WAY_MS);
    const response = await send(options, path, {
      method,
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(incarnation === undefined ? {} : { [INCARNATION_HEADER]: incarnation }),
        ...(timeoutMs === undefined ? {} : { [DEADLINE_HEADER]: String(timeoutMs) }),
      },
      ...(body === undefined ? {} : { body }),
    });
    return parseJsonText(await response.text().catch((error: unknown) => rethrow(error)));
  };
  return {
    hub: async (name, params, callOptions = {}) => {
      const { route, result } = HUB_OPERATIONS[name];
      const parsed = result.safeParse(await call(route, params, callOptions), ONE_SHOT);
      if (!parsed.success) throw unreadable(name, parsed.error);
      // The declaration of `name` is where both the schema and the type come from.
      return parsed.data as HubResult<typeof name>;
    },
    node: async (nodeId, name, params, callOptions = {}) => {
      const route = NODE_ROUTES[name];
      if (route === null) throw new FailureError('unknown-operation', { operation: name });
      const answer = await call(route, { ...params, node: nodeId }, callOptions);
      const parsed = OPERATIONS[name].result.safeParse(answer, ONE_SHOT);
      if (!parsed.success) throw unreadable(name, parsed.error);
      return parsed.data as Result<typeof name>;
    },
    open: (path, headers, signal) => send(options, path, { method: 'GET', headers, signal }),
  };
}

async function send(
  { fetch, baseUrl, token }: HubApiOptions,
  path: string,
  request: { readonly headers: Readonly<Record<string, string>> } & Omit<RequestInit, 'headers'>,
): Promise<Response> {
  const response = await fetch(`${baseUrl}${path}`, {
    ...request,
    credentials: token === undefined ? 'same-origin' : 'omit',
    redirect: 'error',
    headers: {
      ...request.headers,
      [CSRF_HEADER]: '1',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
  }).catch((error: unknown) => rethrow(error));
  if (response.ok) return response;
  throw failureOfProblem(response.status, parseJsonText(await response.text().catch(() => '')));
}

/** The network tells nothing more than that it failed; an abort of the caller stays what it is. */
function rethrow(error: unknown): never {
  if (error instanceof DOMException && error.name === 'TimeoutError')
    throw new FailureError('request-timed-out', undefined, { cause: error });
  if (error instanceof DOMException && error.name === 'AbortError') throw error;
  throw new FailureError('hub-unreachable', undefined, { cause: error });
}

function unreadable(operation: string, cause: unknown): FailureError {
  return new FailureError(
    'internal-error',
    { operation, reason: 'the answer is not what it should be' },
    { cause },
  );
}
