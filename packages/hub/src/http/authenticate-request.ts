// From a request, or an upgrade, to who asks. Runs before any body is read.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { FailureError } from '@roost/protocol';
import { LOCAL } from '../access/authenticate.ts';
import type { Principal } from '../access/principal.ts';
import type { HubContext } from './context.ts';
import { readSessionCookie } from './cookies.ts';
import { guardRequest, type RequestFacts } from './request-guard.ts';

/** Connections that came over the socket in the hub's directory. */
const localSockets = new WeakSet<Socket>();
export const noteLocalSocket = (socket: Socket): void => void localSockets.add(socket);

export function factsOf(request: IncomingMessage): RequestFacts {
  return {
    method: request.method ?? '',
    url: request.url ?? '',
    headers: request.headers,
    isLocal: localSockets.has(request.socket),
  };
}

/** As the audit log tells it. */
export function peerOf(request: IncomingMessage): string {
  return localSockets.has(request.socket) ? 'local' : (request.socket.remoteAddress ?? 'unknown');
}

/** @throws FailureError: origin-refused, invalid-request. */
export function requireOwnPlace(context: HubContext, request: IncomingMessage): void {
  const refusal = guardRequest(factsOf(request), context.place());
  if (refusal !== null) throw FailureError.from(refusal);
}

/**
 * null: it came with nothing, or with a cookie that is not good any more.
 * @throws FailureError: unauthenticated, rate-limited for a token that is not good.
 */
export function authenticateRequest(context: HubContext, request: IncomingMessage): Principal | null {
  if (localSockets.has(request.socket)) return LOCAL;
  const { authorization, cookie } = request.headers;
  const { access, hubId, metrics } = context;
  const principal = access.authenticator.authenticate({
    authorization,
    cookie: readSessionCookie(cookie, hubId),
  });
  if (principal !== null || authorization === undefined) return principal;
  metrics.authenticationFailed();
  access.attempts.failed(peerOf(request));
  throw new FailureError('unauthenticated');
}
