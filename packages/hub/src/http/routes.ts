// Routes of the operations tables: what the hub does itself, and what it passes on to nodes. Who may ask is decided before a body is read;
// what they may ask of is decided when the parameters are known.
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  API_PREFIX,
  DEADLINE_HEADER,
  FailureError,
  HUB_OPERATIONS,
  hubReach,
  INCARNATION_HEADER,
  Incarnation,
  NODE_ROUTES,
  OPERATIONS,
  PROMPT_WAIT_MS_MAX,
  REQUEST_BYTES_MAX,
  type HttpRoute,
  type HubOperation,
  type HubOperationName,
  type NodeId,
  type OperationName,
} from '@roost/protocol';
import { allow } from '../access/allow.ts';
import { isHubMutation, isNodeMutation } from '../access/mutations.ts';
import { ownFailure, ownSelector } from '../access/own-selectors.ts';
import { requireRole, workspacesOf, type Principal } from '../access/principal.ts';
import { visibleResult } from '../access/visible.ts';
import type { AuditedRequest } from '../audit/audit.ts';
import type { Fleet, NodeRequest } from '../fleet/fleet.ts';
import { accessHandlers, known } from './access-handlers.ts';
import { audited } from './audited.ts';
import { authenticateRequest, factsOf, peerOf } from './authenticate-request.ts';
import type { BodyBudget } from './body-budget.ts';
import type { HubContext } from './context.ts';
import { sessionCookie } from './cookies.ts';
import { findNode } from './find-node.ts';
import type { Caller, HubHandlers } from './handlers.ts';
import { listHandlers } from './list-handlers.ts';
import { nodeHandlers } from './node-handlers.ts';
import { hasBody, ParamsReader, type HttpInput } from './read-params.ts';
import { comesFromBrowser, guardBrowser } from './request-guard.ts';

/** Bytes of a body. */
const BODY_BYTES_MAX = 1024 * 1024;
/** Of those that carry a whole text. */
const LARGE_BODIES: Partial<Record<OperationName, number>> = {
  'session.prompt': REQUEST_BYTES_MAX,
  'session.paste': REQUEST_BYTES_MAX,
  'session.input': REQUEST_BYTES_MAX,
  // The largest file that is written, JSON-escaped.
  'workspace.writeFile': 2 * 1024 * 1024,
};
/** Milliseconds that a caller may give a node: the longest wait that an operation knows, and some to answer. */
const DEADLINE_MS_MAX = PROMPT_WAIT_MS_MAX + 60_000;

const principals = new WeakMap<FastifyRequest, Principal>();

/** Who asks; null: nobody who is known. */
function principalOf(request: FastifyRequest): Principal | null {
  return principals.get(request) ?? null;
}

export function addRoutes(app: FastifyInstance, context: HubContext, budget: BodyBudget): void {
  const handlers: HubHandlers = {
    ...nodeHandlers(context),
    ...listHandlers(context.fleet, context.index),
    ...accessHandlers(context),
  };
  for (const operation of Object.values(HUB_OPERATIONS))
    addHubRoute({ app, context, handlers, budget }, operation);
  for (const [name, route] of Object.entries(NODE_ROUTES) as [OperationName, HttpRoute | null][])
    if (route !== null && hubReach(name) !== 'never') addNodeRoute({ app, context, budget }, name, route);
}

interface RouteParts {
  readonly app: FastifyInstance;
  readonly context: HubContext;
  readonly budget: BodyBudget;
}

function addHubRoute(
  { app, context, handlers, budget }: RouteParts & { handlers: HubHandlers },
  operation: HubOperation,
): void {
  const name = operation.name as HubOperationName;
  const { route, role } = operation;
  const reader = new ParamsReader(operation.params, route);
  const handle = handlers[name] as (params: unknown, caller: Caller) => unknown;
  const isMutation = isHubMutation(name);
  app.route({
    method: route.method,
    url: urlOf(route),
    bodyLimit: BODY_BYTES_MAX,
    config: { operation: name },
    onRequest: (request, reply, done) => {
      const principal = authenticateRequest(context, request.raw);
      if (role === 'public') context.access.attempts.check(peerOf(request.raw));
      else admit(request, principal, role === 'self' ? 'observer' : role);
      if (isMutation) requireOwnPage(context, request, role === 'public' ? null : principal);
      budget.take(request.raw, reply.raw, BODY_BYTES_MAX);
      done();
    },
    handler: async (request, reply) => {
      const caller = callerOf(context, request, reply);
      const { params } = reader.read(inputOf(request));
      const act = () => handle(params, caller);
      const result = isMutation
        ? await audited(context.audit, auditedHub(context, caller, name, params), act)
        : await act();
      if (context.checkResults) operation.result.parse(result);
      return route.method === 'GET' ? answerTagged(request, reply, result) : answer(reply, result);
    },
  });
}

function addNodeRoute({ app, context, budget }: RouteParts, name: OperationName, route: HttpRoute): void {
  const reader = new ParamsReader(OPERATIONS[name].params, route, ['node']);
  const reach = hubReach(name);
  const isMutation = isNodeMutation(name);
  const bodyLimit = LARGE_BODIES[name] ?? BODY_BYTES_MAX;
  const { fleet } = context;
  app.route({
    method: route.method,
    url: urlOf(route),
    bodyLimit,
    config: { operation: name },
    onRequest: (request, reply, done) => {
      const principal = authenticateRequest(context, request.raw);
      admit(request, principal, reach === 'never' ? 'admin' : reach);
      if (isMutation) requireOwnPage(context, request, principal);
      budget.take(request.raw, reply.raw, bodyLimit);
      done();
    },
    handler: async (request, reply) => {
      const caller = callerOf(context, request, reply);
      const principal = known(caller);
      const input = inputOf(request);
      const node = findNode(fleet, input.path.node ?? '', principal);
      const { given, params } = reader.read(input);
      const conditions = conditionsOf(request);
      // Judged by what the hub hears of the node: while it hears nothing, what it knows would answer otherwise than what it does not.
      if (workspacesOf(principal, node.id) !== null) fleet.requireOnline(node.id, conditions.incarnation);
      const refusal = allow(principal, { nodeId: node.id, operation: name, params }, (id) =>
        fleet.placeOf(id, node.id),
      );
      if (refusal !== null) throw FailureError.from(refusal);
      const meant = { nodeId: node.id, operation: name, params };
      const own = await ownSelector(principal, meant, {
        viewOf: () => fleet.view(node.id),
        ask: (operation, params) => fleet.request(node.id, { operation, params, ...conditions }),
      });
      // As it was given: the node fills in what is left out, and may be older than what this hub would fill in.
      const asked: NodeRequest = { operation: name, params: own ?? given, ...conditions };
      const act = () => fleet.request(node.id, asked);
      const { requestId, from } = caller;
      const line = { requestId, actor: principal, from, operation: name, nodeId: node.id, params };
      let shown: unknown;
      try {
        const result = isMutation ? await audited(context.audit, line, act) : await act();
        shown = visibleResult(principal, { nodeId: node.id, operation: name, result });
      } catch (error) {
        if (!(error instanceof FailureError)) throw error;
        const reason = ownFailure(principal, meant, error.failure);
        throw reason === error.failure ? error : FailureError.from(reason);
      }
      return answer(reply, shown);
    },
  });
}

function urlOf({ path }: HttpRoute): string {
  return API_PREFIX + path.replace(/\{(\w+)\}/g, ':$1');
}

/** @throws FailureError: unauthenticated, forbidden. */
function admit(
  request: FastifyRequest,
  principal: Principal | null,
  role: 'observer' | 'operator' | 'admin',
): void {
  if (principal === null) throw new FailureError('unauthenticated');
  requireRole(principal, role);
  principals.set(request, principal);
}

/** What only a browser's cookie, or nothing, speaks for. @throws FailureError: origin-refused. */
function requireOwnPage(context: HubContext, { raw }: FastifyRequest, principal: Principal | null): void {
  const facts = factsOf(raw);
  const isBrowsers = principal === null ? comesFromBrowser(facts) : principal.credential.kind === 'cookie';
  if (!isBrowsers) return;
  const refusal = guardBrowser(facts, context.place(), 'change');
  if (refusal !== null) throw FailureError.from(refusal);
}

function callerOf({ hubId, place }: HubContext, request: FastifyRequest, reply: FastifyReply): Caller {
  const { origin } = request.headers;
  const isSecure = place().scheme === 'https' || (origin?.startsWith('https:') ?? false);
  return {
    principal: principalOf(request),
    from: peerOf(request.raw),
    requestId: request.id,
    setCookie: (value, maxAgeMs) => {
      void reply.header('set-cookie', sessionCookie(hubId, value, { isSecure, maxAgeMs }));
    },
  };
}

function auditedHub(
  { fleet }: HubContext,
  caller: Caller,
  operation: HubOperationName,
  params: unknown,
): AuditedRequest {
  const { principal, requestId, from } = caller;
  const actor = principal ?? ({ kind: 'nobody' } as const);
  return { requestId, actor, from, operation, nodeId: nodeMeant(fleet, params), params };
}

/** The node that a request is about, whether it is there or about to be; null: none. */
function nodeMeant(fleet: Fleet, params: unknown): NodeId | null {
  const { node, nodeId } = params as { readonly node?: string; readonly nodeId?: NodeId };
  if (node === undefined) return nodeId ?? null;
  try {
    return fleet.findEnrolled(node);
  } catch (error) {
    if (error instanceof FailureError) return null;
    throw error;
  }
}

function inputOf(request: FastifyRequest): HttpInput {
  const at = request.url.indexOf('?');
  return {
    path: request.params as Record<string, string>,
    query: new URLSearchParams(at === -1 ? '' : request.url.slice(at + 1)),
    body: hasBody(request.method as HttpRoute['method']) ? request.body : (request.body ?? undefined),
  };
}

/** @throws FailureError: invalid-request. */
function conditionsOf({ headers }: FastifyRequest): Pick<NodeRequest, 'incarnation' | 'timeoutMs'> {
  const ofMatch = headers['if-match']?.replace(/^"(.*)"$/, '$1');
  const named = headers[INCARNATION_HEADER];
  const incarnation = named ?? ofMatch;
  const deadline = headers[DEADLINE_HEADER];
  if (named !== undefined && ofMatch !== undefined && named !== ofMatch)
    throw new FailureError('invalid-request', { field: 'if-match' });
  const parsed = Incarnation.safeParse(incarnation);
  if (incarnation !== undefined && !parsed.success)
    throw new FailureError('invalid-request', { field: INCARNATION_HEADER });
  const timeoutMs = Number(deadline);
  const isInBounds = Number.isInteger(timeoutMs) && timeoutMs > 0 && timeoutMs <= DEADLINE_MS_MAX;
  if (deadline !== undefined && !isInBounds)
    throw new FailureError('invalid-request', { field: DEADLINE_HEADER, limit: DEADLINE_MS_MAX });
  return {
    ...(parsed.success ? { incarnation: parsed.data } : {}),
    ...(deadline === undefined ? {} : { timeoutMs }),
  };
}

function answer(reply: FastifyReply, result: unknown): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(result));
}

/** Who has it already gets no body. */
function answerTagged(request: FastifyRequest, reply: FastifyReply, result: unknown): FastifyReply {
  const text = JSON.stringify(result);
  const etag = `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  void reply.header('etag', etag);
  const held = (request.headers['if-none-match'] ?? '').split(',').map((one) => one.trim());
  if (held.includes(etag)) return reply.code(304).send();
  return reply.type('application/json; charset=utf-8').send(text);
}
