// One hub, called: one line on which the hub is the client and this node the node, as if the hub had connected to it; made anew whenever it
// is lost. Further lines are called when the hub asks for them.
import type { Socket } from 'node:net';
import WebSocket from 'ws';
import {
  CALL_HOME_CHANNEL_HEADER,
  CALL_HOME_NODE_HEADER,
  CALL_HOME_PATH,
  CLIENT_FRAME_BYTES_MAX,
  FailureError,
  type HubMembership,
  type NodeId,
} from '@roost/protocol';
import {
  hubAddress,
  isCertificateError,
  parseToken,
  pinnedAgent,
  REAL_UPTIME_MS,
  reconnectDelay,
  watchLiveness,
  type Token,
} from '@roost/protocol/node';
import type { ConnectionServer } from '../connection/server.ts';
import type { Log } from '@roost/storage';
import type { Membership } from './membership-files.ts';

const CONNECT_MS = 10_000;
/** HTTP answers to a call that trying again does not change. */
const REFUSALS: readonly number[] = [401, 403, 404];

export interface CallHomeOptions {
  readonly membership: Membership;
  readonly nodeId: NodeId;
  readonly server: Pick<ConnectionServer, 'serveCall'>;
  readonly log: Log;
  readonly now: () => number;
  readonly random: () => number;
}

type State = HubMembership['state'];

export class CallHome {
  readonly #options: CallHomeOptions;
  readonly #token: Token;
  #state: State = 'connecting';
  #since: number;
  #attempts = 0;
  #failures = 0;
  #call: WebSocket | null = null;
  /** Those that were asked for. */
  readonly #further = new Set<WebSocket>();
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;
  #onState: () => void = () => undefined;

  constructor(options: CallHomeOptions) {
    this.#options = options;
    this.#since = options.now();
    this.#token = tokenOf(options.membership);
  }

  get view(): HubMembership {
    const { hubId, url, nodeName, joinedAt } = this.#options.membership;
    const since = new Date(this.#since).toISOString();
    return { hubId, url, nodeName, joinedAt, state: this.#state, since, attempts: this.#attempts };
  }

  begin(): void {
    void this.#callOnce();
  }

  /** Resolves at the first outcome of the first call, or when the time is over. */
  async firstOutcome(timeoutMs: number): Promise<void> {
    if (this.#state !== 'connecting') return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#onState = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Calls once more for a client of the hub. @throws FailureError: hub-unreachable. */
  async callFor(channel: string): Promise<void> {
    const { webSocket, socket } = await this.#connect(channel);
    if (this.#isClosed) {
      webSocket.terminate();
      throw new FailureError('unknown-hub');
    }
    this.#further.add(webSocket);
    webSocket.once('close', () => this.#further.delete(webSocket));
    this.#options.server.serveCall({ webSocket, socket, token: this.#token, proved: () => undefined });
  }

  /** No more calls; the one that is under way ends with the server that serves it. */
  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** Nothing of that hub goes on. */
  hangUp(): void {
    this.close();
    for (const call of [this.#call, ...this.#further]) call?.close();
  }

  async #callOnce(): Promise<void> {
    const { server, log, membership, now } = this.#options;
    this.#timer = null;
    this.#attempts += 1;
    let call: { webSocket: WebSocket; socket: Socket };
    try {
      call = await this.#connect(null);
    } catch (error) {
      const wasRefused = error instanceof FailureError && error.failure.code !== 'hub-unreachable';
      this.#failed(wasRefused);
      log.debug({ err: error, hubId: membership.hubId }, 'the hub was not reached');
      return;
    }
    if (this.#isClosed) {
      call.webSocket.terminate();
      return;
    }
    const { webSocket, socket } = call;
    this.#call = webSocket;
    const startedAt = now();
    let wasProved = false;
    server.serveCall({
      webSocket,
      socket,
      token: this.#token,
      proved: (isProved) => {
        wasProved = isProved;
        if (!isProved) return;
        this.#attempts = 0;
        this.#enter('online');
        log.info({ hubId: membership.hubId }, 'the hub is there');
      },
    });
    webSocket.once('close', () => {
      this.#call = null;
      if (wasProved && now() - startedAt >= REAL_UPTIME_MS) this.#failures = 0;
      this.#failed(false);
    });
  }

  #failed(wasRefused: boolean): void {
    if (this.#isClosed) return;
    this.#failures += 1;
    this.#enter(wasRefused ? 'refused' : 'offline');
    const delay = reconnectDelay(this.#failures, wasRefused, this.#options.random());
    this.#timer = setTimeout(() => void this.#callOnce(), delay).unref();
  }

  #enter(state: State): void {
    if (state !== this.#state) this.#since = this.#options.now();
    this.#state = state;
    this.#onState();
  }

  /** @throws FailureError: hub-unreachable; hub-untrusted; unauthorized when the hub does not know this node. */
  #connect(channel: string | null): Promise<{ webSocket: WebSocket; socket: Socket }> {
    const { membership, nodeId } = this.#options;
    const { fingerprint } = membership;
    const { base, isSecure } = hubAddress(membership.url);
    const url = new URL(CALL_HOME_PATH, base);
    url.protocol = isSecure ? 'wss:' : 'ws:';
    const webSocket = new WebSocket(url, {
      perMessageDeflate: false,
      maxPayload: CLIENT_FRAME_BYTES_MAX,
      handshakeTimeout: CONNECT_MS,
      ...(fingerprint === null ? {} : { agent: pinnedAgent(fingerprint) }),
      headers: {
        [CALL_HOME_NODE_HEADER]: nodeId,
        ...(channel === null ? {} : { [CALL_HOME_CHANNEL_HEADER]: channel }),
      },
    });
    return new Promise((resolve, reject) => {
      let socket: Socket | null = null;
      const fail = (failure: FailureError): void => {
        webSocket.terminate();
        reject(failure);
      };
      const details = { url: base.origin };
      webSocket.on('error', (cause) =>
        fail(
          new FailureError(isCertificateError(cause) ? 'hub-untrusted' : 'hub-unreachable', details, {
            cause,
          }),
        ),
      );
      webSocket.once('unexpected-response', (_, { statusCode = 0 }) =>
        fail(
          new FailureError(REFUSALS.includes(statusCode) ? 'unauthorized' : 'hub-unreachable', {
            ...details,
            status: statusCode,
          }),
        ),
      );
      webSocket.once('upgrade', (response) => {
        socket = response.socket;
      });
      webSocket.once('open', () => {
        if (socket === null) return;
        webSocket.removeAllListeners('error');
        webSocket.on('error', () => webSocket.terminate());
        // Until somebody listens: the hub speaks first.
        webSocket.pause();
        watchLiveness(webSocket);
        resolve({ webSocket, socket });
      });
    });
  }
}

function tokenOf({ key }: Membership): Token {
  const token = parseToken(`roost_operator_${key}`);
  if (token === null) throw new Error('not a key');
  return token;
}
