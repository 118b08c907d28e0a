/** Operations of a hub itself, over HTTP. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import {
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
import * as z from 'zod';
import { isCertificateError } from '@roost/protocol/node';
import { httpCall } from '../http-call.ts';
import { meansNobodyListens } from '../open-socket.ts';
import { failureOfProblem } from '../problem.ts';
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

/** What the hub tells of itself: one of another version may tell less, or something else. Fails as `hubRequest`. */
export async function hubStatus(
  target: HubTarget,
  options: RequestOptions = {},
): Promise<Partial<HubResult<'hub.status'>>> {
  const { route, result } = HUB_OPERATIONS['hub.status'];
  const told = z
    .record(z.string(), z.unknown())
    .safeParse(await ask(target, route, {}, options), ONE_SHOT).data;
  const known = Object.entries(result.shape).flatMap(([name, schema]) => {
    const parsed = schema.safeParse(told?.[name], ONE_SHOT);
    return parsed.success ? [[name, parsed.data] as const] : [];
  });
  return Object.fromEntries(known);
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
  const { path, body } = httpCall(route, params);
  const { status, text } = await send(target, { method: route.method, path, body, timeoutMs });
  const value = parseJson(text);
  if (status >= 400) throw failureOfProblem(status, value);
  return value;
}

function read(operation: string, schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value, ONE_SHOT);
  if (!parsed.success) throw new FailureError('internal-error', { operation }, { cause: parsed.error });
  return parsed.data;
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
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
    ...(body === undefined
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
    request.end(body);
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
