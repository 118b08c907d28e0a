// Where the hub listens: TCP, over TLS when there is a certificate, and a socket in its directory that only its owner opens. One application
// answers both; on the socket the caller is the owner.
import { randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { FailureError, HUB_ALIVE_MS, REQUEST_ID_HEADER } from '@roost/protocol';
import { concerns } from '../access/access-changes.ts';
import type { Principal } from '../access/principal.ts';
import type { Certificate } from '../home/config.ts';
import { systemErrorCode } from '@roost/storage';
import { noteLocalSocket, requireOwnPlace } from './authenticate-request.ts';
import { BodyBudget } from './body-budget.ts';
import { HUB_PORT_DEFAULT, type HubConfig } from '../home/config.ts';
import type { HubContext } from './context.ts';
import { addEventRoutes } from './event-routes.ts';
import { addPlainRoutes } from './plain-routes.ts';
import { expectedFailure, PROBLEM_TYPE, problemOf } from './problem.ts';
import { addRoutes } from './routes.ts';
import { SECURITY_HEADERS, TRANSPORT_HEADERS } from './security-headers.ts';
import { Upgrades } from './upgrades.ts';

/** Connections on TCP, and on the socket. */
const CONNECTIONS_MAX = 4_096;
const LOCAL_CONNECTIONS_MAX = 1_024;
const LIMITS = {
  maxHeaderSize: 16 * 1024,
  /** Milliseconds for the head of a request, and for all of it: the longest body over a slow line. */
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 15_000,
  connectionsCheckingInterval: 2_000,
};
const HEADERS_MAX = 64;
const REQUESTS_OF_CONNECTION_MAX = 10_000;
/** Milliseconds that a client may take nothing of an answer. */
const ANSWER_STALLED_MS = 30_000;
/** Milliseconds between looks at who may still be here. */
const JUDGE_MS = 5_000;
/** Milliseconds of a stop for requests that are under way. */
const FINISH_MS = 1_000;
/** Milliseconds for the other ends of lines to close. */
const GOOD_BYE_MS = 1_000;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** For the metrics. */
    operation?: string;
  }
}

export interface HttpServerOptions {
  readonly listen: HubConfig['listen'];
  readonly certificate: Certificate | null;
  /** Path of the socket. */
  readonly socket: string;
}

export class HttpServer {
  readonly #context: HubContext;
  readonly #options: HttpServerOptions;
  readonly #app: FastifyInstance;
  readonly #tcp: Server;
  readonly #local: Server;
  readonly #upgrades: Upgrades;
  readonly #timers: NodeJS.Timeout[] = [];
  #endHearing: () => void = () => undefined;
  readonly #sockets = new Set<Socket>();
  /** Requests at work. */
  #working = 0;
  #onIdle: () => void = () => undefined;

  constructor(options: HttpServerOptions, context: HubContext) {
    this.#options = options;
    this.#context = context;
    this.#upgrades = new Upgrades(context);
    const handle: RequestListener = (request, response) => this.#app.routing(request, response);
    const { certificate } = options;
    this.#tcp = this.#prepare(
      certificate === null
        ? createServer(LIMITS, handle)
        : createTlsServer(
            { ...LIMITS, cert: certificate.cert, key: certificate.key, minVersion: 'TLSv1.2' },
            handle,
          ),
      CONNECTIONS_MAX,
    );
    this.#local = this.#prepare(createServer(LIMITS, handle), LOCAL_CONNECTIONS_MAX);
    this.#local.on('connection', noteLocalSocket);
    this.#app = this.#makeApp();
  }

  /** Answers the address on TCP. @throws FailureError: home-unusable. */
  async start(): Promise<{ readonly host: string; readonly port: number }> {
    await this.#app.ready();
    const { listen, socket } = this.#options;
    removeLeftover(socket);
    await listenOn(this.#local, { path: socket });
    chmodSync(socket, 0o600);
    const port = await listenOnOneOf(this.#tcp, listen);
    const { access, lines } = this.#context;
    this.#endHearing = access.onRevoked((change) =>
      lines.endWhere((principal) => concerns(change, principal) && this.#isOver(principal)),
    );
    this.#every(JUDGE_MS, () =>
      lines.endWhere(({ expiresAt, ...rest }) => {
        const hasEnded = expiresAt !== null && expiresAt <= Date.now();
        return hasEnded && this.#isOver({ expiresAt, ...rest });
      }),
    );
    this.#every(HUB_ALIVE_MS, () => lines.check());
    return { host: listen.host, port };
  }

  /** No new connections, then the end of those that there are. What is asked is answered first, unless it takes long; `endLinks`: nothing is asked of nodes any more. */
  async close(endLinks: () => void): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#endHearing();
    const servers = [this.#tcp, this.#local].filter(({ listening }) => listening);
    const closed = Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    for (const server of servers) server.closeIdleConnections();
    this.#context.lines.endAll();
    await this.#finished(FINISH_MS);
    // Lines to nodes are connections of ours, too.
    endLinks();
    for (const server of servers) server.closeAllConnections();
    // Those that do not say good-bye in time.
    const late = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, GOOD_BYE_MS);
    await closed;
    clearTimeout(late);
    await this.#app.close();
  }

  /** Resolves when no request is at work, or the time is over. */
  async #finished(timeoutMs: number): Promise<void> {
    if (this.#working === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #prepare<Made extends Server>(server: Made, connectionsMax: number): Made {
    server.maxConnections = connectionsMax;
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.maxHeadersCount = HEADERS_MAX;
    server.maxRequestsPerSocket = REQUESTS_OF_CONNECTION_MAX;
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) =>
      this.#upgrades.handle(request, socket, head),
    );
    server.on('clientError', (error: Error, socket: Socket) => {
      if (!socket.writable) return;
      const status =
        systemErrorCode(error) === 'HPE_HEADER_OVERFLOW' ? '431 Headers Too Large' : '400 Bad Request';
      socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    });
    return server;
  }

  #makeApp(): FastifyInstance {
    const context = this.#context;
    const app = fastify({
      // The servers are made before: there are two of them.
      serverFactory: () => this.#tcp,
      logger: false,
      genReqId: () => randomBytes(8).toString('hex'),
      exposeHeadRoutes: false,
      bodyLimit: 64 * 1024,
      forceCloseConnections: false,
      routerOptions: { maxParamLength: 1_024 },
      // An address that cannot be read: no hook has seen the request.
      frameworkErrors: (error, request, reply) => {
        this.#putHeaders(request, reply);
        this.#refuse(error, request, reply);
      },
    });
    app.removeContentTypeParser('text/plain');
    app.addHook('onRequest', (request, reply, done) => {
      this.#working += 1;
      reply.raw.once('close', () => {
        this.#working -= 1;
        if (this.#working === 0) this.#onIdle();
      });
      this.#putHeaders(request, reply);
      requireOwnPlace(context, request.raw);
      done();
    });
    app.addHook('onSend', (request, _reply, payload, done) => {
      request.raw.socket.setTimeout(ANSWER_STALLED_MS);
      done(null, payload);
    });
    app.addHook('onResponse', (request, reply, done) => {
      const { operation = 'other' } = request.routeOptions.config;
      context.metrics.answered(operation, reply.statusCode, reply.elapsedTime / 1_000);
      done();
    });
    app.setErrorHandler((error, request, reply) => this.#refuse(error, request, reply));
    addRoutes(app, context, new BodyBudget());
    addEventRoutes(app, context);
    addPlainRoutes(app, context);
    return app;
  }

  #putHeaders(request: FastifyRequest, reply: FastifyReply): void {
    void reply.headers(SECURITY_HEADERS).header(REQUEST_ID_HEADER, request.id);
    if (this.#context.place().scheme === 'https') void reply.headers(TRANSPORT_HEADERS);
  }

  #refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const expected = expectedFailure(error);
    if (expected === null)
      this.#context.log.error(
        { err: error, requestId: request.id, route: request.routeOptions.url },
        'a request failed',
      );
    const { failure, status } = expected ?? {
      failure: new FailureError('internal-error').failure,
      status: 500,
    };
    if (status === 401) void reply.header('www-authenticate', 'Bearer');
    const { retryAfterMs } = failure.details ?? {};
    if (typeof retryAfterMs === 'number') void reply.header('retry-after', Math.ceil(retryAfterMs / 1_000));
    void reply
      .code(status)
      .type(PROBLEM_TYPE)
      .send(JSON.stringify(problemOf(failure, request.id, status)));
  }

  /** Whether a principal that was good is not any more, or may something else. */
  #isOver(principal: Principal): boolean {
    const now = this.#renew(principal);
    return now?.role !== principal.role || JSON.stringify(now.scope) !== JSON.stringify(principal.scope);
  }

  /** Whoever cannot be looked up is not let stay. */
  #renew(principal: Principal): Principal | null {
    try {
      return this.#context.access.authenticator.renew(principal);
    } catch (error) {
      this.#context.log.error({ err: error }, 'a principal could not be looked up');
      return null;
    }
  }

  #every(milliseconds: number, work: () => void): void {
    const timer = setInterval(work, milliseconds);
    timer.unref();
    this.#timers.push(timer);
  }
}

/** Ports after the usual one that are tried. */
const OTHER_PORTS = 20;

/** Answers the port. */
async function listenOnOneOf(server: Server, { host, port }: HubConfig['listen']): Promise<number> {
  const last = port ?? HUB_PORT_DEFAULT + OTHER_PORTS;
  for (let tried = port ?? HUB_PORT_DEFAULT; ; tried += 1) {
    try {
      await listenOn(server, { host, port: tried });
      break;
    } catch (error) {
      const isTaken = error instanceof FailureError && systemErrorCode(error.cause) === 'EADDRINUSE';
      if (!isTaken || tried === last) throw error;
      server.removeAllListeners('error');
    }
  }
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : last;
}

async function listenOn(
  server: Server,
  where: { path: string } | { host: string; port: number },
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new FailureError('home-unusable', { reason: 'cannot listen there', ...where }, { cause })),
    );
    // The socket file is made within the call.
    const before = process.umask(0o177);
    try {
      server.listen(where, resolve);
    } finally {
      process.umask(before);
    }
  });
  server.removeAllListeners('error');
  // Out of descriptors, a peer that left at once: the next one is accepted as soon as it can be.
  server.on('error', () => undefined);
}

/** Only for the holder of the home's lock: a socket that lies there is a leftover. */
function removeLeftover(path: string): void {
  try {
    if (!lstatSync(path).isSocket())
      throw new FailureError('home-unusable', { path, reason: 'something that is not a socket lies there' });
    rmSync(path);
  } catch (error) {
    if (error instanceof FailureError) throw error;
  }
}
