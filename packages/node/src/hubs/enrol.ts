// The one request of a node to a hub that is not part of a call: its enrolment.
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import * as z from 'zod';
import {
  API_PREFIX,
  Failure,
  FailureError,
  HUB_OPERATIONS,
  type HubParams,
  type HubResult,
} from '@roost/protocol';
import { isCertificateError, pinnedAgent, type HubAddress } from '@roost/protocol/node';

const ENROL_MS = 10_000;
const ANSWER_BYTES_MAX = 64 * 1024;

const Problem = z.object({ code: Failure.shape.code });

/** @throws FailureError: hub-unreachable, hub-untrusted, invite-invalid, already-enrolled, rate-limited. */
export async function enrol(
  { base, isSecure }: HubAddress,
  fingerprint: string | null,
  params: HubParams<'nodes.enrol'>,
): Promise<HubResult<'nodes.enrol'>> {
  const { route, result } = HUB_OPERATIONS['nodes.enrol'];
  const url = new URL(`${API_PREFIX}${route.path}`, base);
  const body = JSON.stringify(params);
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const answer = await new Promise<{ status: number; text: string }>((resolve, reject) => {
    const unreachable = (cause: unknown) =>
      reject(new FailureError('hub-unreachable', { url: base.origin, reason: reasonOf(cause) }, { cause }));
    const options = {
      method: route.method,
      headers,
      timeout: ENROL_MS,
      signal: AbortSignal.timeout(ENROL_MS),
    };
    const onResponse = (response: IncomingMessage) => {
      readAll(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), unreachable);
    };
    if (!isSecure) {
      httpRequest(url, options, onResponse).once('error', unreachable).end(body);
      return;
    }
    const agent = fingerprint === null ? {} : { agent: pinnedAgent(fingerprint) };
    const request = httpsRequest(url, { ...options, ...agent }, onResponse);
    request.once('error', (error) => {
      if (isCertificateError(error)) reject(untrusted(base, error));
      else unreachable(error);
    });
    request.end(body);
  });
  const value = parseJson(answer.text);
  if (answer.status >= 200 && answer.status < 300) {
    const parsed = result.safeParse(value).data;
    if (parsed !== undefined) return parsed;
    throw new FailureError('hub-untrusted', { url: base.origin, reason: 'what answers is no hub' });
  }
  const code = Problem.safeParse(value).data?.code;
  if (code === 'invite-invalid' || code === 'already-enrolled' || code === 'rate-limited')
    throw new FailureError(code);
  throw new FailureError('hub-unreachable', { url: base.origin, status: answer.status });
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

function untrusted({ origin }: URL, cause?: unknown): FailureError {
  return new FailureError(
    'hub-untrusted',
    { url: origin, reason: 'its certificate is not the right one' },
    { cause },
  );
}

function reasonOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'no answer';
}
