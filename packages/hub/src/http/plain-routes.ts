// What is no operation: health, metrics, the API document, the files of the web UI.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { API_PREFIX, FailureError } from '@roost/protocol';
import { isLoopback } from '../home/config.ts';
import { authenticateRequest, peerOf } from './authenticate-request.ts';
import type { HubContext } from './context.ts';
import { HealthChecks } from './health.ts';
import { HttpFailure } from './problem.ts';

export function addPlainRoutes(app: FastifyInstance, context: HubContext): void {
  const checks = new HealthChecks(context);
  app.get('/health', async (_, reply) => {
    const health = await checks.look();
    return reply.code(health.ok ? 200 : 503).send(health);
  });
  app.get('/ready', (_, reply) => {
    const ready = !context.isStopping();
    return reply.code(ready ? 200 : 503).send({ ready });
  });
  app.get('/metrics', async (request, reply) => {
    requireReaderOfMetrics(context, request);
    return reply.type(context.metrics.contentType).send(await context.metrics.text());
  });
  let document: string | null = null;
  app.get(`${API_PREFIX}/openapi.json`, async (_, reply) => {
    document ??= await context.apiDocument();
    return reply.type('application/json; charset=utf-8').send(document);
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const isPage = (request.method === 'GET' || request.method === 'HEAD') && !path.startsWith('/api/');
    if (!isPage) throw new HttpFailure(404, 'unknown-operation');
    return sendFile(context, request, reply, path);
  });
}

/** An admin, the owner of the hub's directory, or a program on this machine with any good token. */
function requireReaderOfMetrics(context: HubContext, { raw }: FastifyRequest): void {
  const principal = authenticateRequest(context, raw);
  if (principal === null) throw new FailureError('unauthenticated');
  const isNear = isLoopback(peerOf(raw)) && principal.credential.kind === 'token';
  if (principal.role !== 'admin' && !isNear)
    throw new FailureError('forbidden', { role: principal.role, needed: 'admin' });
}

function sendFile(
  { web }: HubContext,
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
): FastifyReply {
  const file = web.find(path);
  if (file === null) throw new HttpFailure(404, 'invalid-request', { reason: 'there is no such file' });
  const { content, packed, type, isImmutable } = file;
  const isPacked = packed !== null && takesGzip(request.headers['accept-encoding']);
  const sent = isPacked ? packed : content;
  // Each form of a file has a tag of its own.
  const etag = isPacked ? file.etag.replace(/"$/, '-gzip"') : file.etag;
  void reply.headers({
    etag,
    vary: 'accept-encoding',
    'cache-control': isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    ...(isPacked ? { 'content-encoding': 'gzip' } : {}),
  });
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  void reply.code(200).type(type).header('content-length', sent.length);
  return reply.send(request.method === 'HEAD' ? undefined : sent);
}

/** By RFC 9110, section 12.5.3, for the two ways in which gzip is named by itself; whoever says it otherwise gets the file as it is. */
function takesGzip(accepted: string | string[] | undefined): boolean {
  const codings = String(accepted ?? '').split(',');
  return codings.some((coding) => /^\s*gzip\s*(?:;\s*q=(?:1|1\.0+|0\.\d*[1-9]\d*))?\s*$/i.test(coding));
}
