/** Operations of a hub itself, over HTTP. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import {
  API_PREFIX,
  Failure,
  FailureError,
  HUB_OPERATIONS,
  NODE_ROUTES,
  OPERATIONS,
  type HttpRoute,
  type HubOperationName,
  type HubParamsInput,
  type HubResult,
  type OperationName,
  type ParamsInput,
  type Result,
} from '@roost/protocol';
import type { z } from 'zod';
import { isCertificateError } from '@roost/protocol/node';
import { meansNobodyListens } from '../open-socket.ts';
import { ONE_SHOT } from '../read-frame.ts';
import { requestOptions, type HubTarget } from './hub-target.ts';

const TIMEOUT_MS = 15_000;
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

interface RequestOptions {
  readonly timeoutMs?: number;
}

/** Fails with what the hub refuses with, `hub-not-running`, `hub-unreachable`, `hub-untrusted`. */
export async function hubRequest<Name extends HubOperationName>(
  target: HubTarget,
  name: Name,
  params: HubParamsInput<Name>,
  options: RequestOptions = {},
): Promise<HubResult<Name>> {
  const { route, result } = HUB_OPERATIONS[name];
  const value = await ask(target, route, params, options);
  // The declaration of `name` is where both the schema and the type come from.
  return read(name, result, value) as HubResult<Name>;
}

/** One operation of a node, by its name or id. Fails besides with `node-offline`, `outcome-unknown`, and as the operation does. */
export async function nodeRequest<Name extends OperationName>(
  target: HubTarget,
  node: string,
  name: Name,
  params: ParamsInput<Name>,
  options: RequestOptions = {},
): Promise<Result<Name>> {
  const route = NODE_ROUTES[name];
  if (route === null) throw new FailureError('unsupported-capability', { operation: name });
  const value = await ask(target, route, { ...(params as Fields), node }, options);
  return read(name, OPERATIONS[name].result, value) as Result<Name>;
}

type Fields = Readonly<Record<string, unknown>>;

async function ask(
  target: HubTarget,
  route: HttpRoute,
  params: Fields,
  { timeoutMs = TIMEOUT_MS }: RequestOptions,
): Promise<unknown> {
  const { path, body } = placeParams(route, params);
  const { status, text } = await send(target, { method: route.method, path, body, timeoutMs });
  const value = parseJson(text);
  if (status >= 400) throw problem(value, status);
  return value;
}

function read(operation: string, schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value, ONE_SHOT);
  if (!parsed.success) throw new FailureError('internal-error', { operation }, { cause: parsed.error });
  return parsed.data;
}

interface Placed {
  readonly path: string;
  readonly body: string | null;
}

/** Puts parameters where the route wants them (`HttpRoute`). */
export function placeParams(route: HttpRoute, params: Fields): Placed {
  const rest = new Map(Object.entries(params).filter(([, value]) => value !== undefined));
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest.get(name);
    rest.delete(name);
    return encodeURIComponent(String(value));
  });
  if (route.method !== 'GET' && route.method !== 'DELETE') {
    return { path: `${API_PREFIX}${path}`, body: JSON.stringify(Object.fromEntries(rest)) };
  }
  const query = new URLSearchParams();
  for (const [name, value] of rest)
    query.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  return { path: `${API_PREFIX}${path}${query.size === 0 ? '' : `?${query.toString()}`}`, body: null };
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: string | null;
  readonly timeoutMs: number;
}

function send(
  target: HubTarget,
  { method, path, body, timeoutMs }: Sent,
): Promise<{ readonly status: number; readonly text: string }> {
  const { base, isSecure, options, headers: own } = requestOptions(target);
  const headers = {
    ...own,
    accept: 'application/json',
    ...(body === null
      ? {}
      : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  };
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => reject(connectFailure(target, error));
    const onResponse = (response: IncomingMessage): void => {
      readAll(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), fail);
    };
    const request = (isSecure ? httpsRequest : httpRequest)(
      new URL(path, base),
      { ...options, method, headers, signal: AbortSignal.timeout(timeoutMs) },
      onResponse,
    );
    request.once('error', fail);
    request.end(body ?? undefined);
  });
}

/** Also for a WebSocket to it. */
export function connectFailure(target: HubTarget, cause: unknown): FailureError {
  if ('socketPath' in target) {
    return new FailureError(meansNobodyListens(cause) ? 'hub-not-running' : 'hub-unreachable', {}, { cause });
  }
  const code = isCertificateError(cause) ? 'hub-untrusted' : 'hub-unreachable';
  return new FailureError(code, { url: target.url }, { cause });
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > ANSWER_BYTES_MAX) throw new Error('a long answer');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

const Problem = Failure.pick({ code: true, details: true });

/** What the hub refused with (`application/problem+json`). */
export function problem(value: unknown, status: number): FailureError {
  const { code, details } = Problem.safeParse(value, ONE_SHOT).data ?? {};
  return code === undefined
    ? new FailureError('hub-unreachable', { status })
    : new FailureError(code, details);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
