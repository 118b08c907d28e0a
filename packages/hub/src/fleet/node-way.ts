// How a node is reached: the hub connects to it, or it calls.
import { randomBytes } from 'node:crypto';
import {
  callerLine,
  connectCaller,
  connectNode,
  openLine,
  type NodeConnection,
  type NodeLine,
} from '@roost/client';
import { FailureError, type Hello, type HubId, type Role } from '@roost/protocol';
import type { Token } from '@roost/protocol/node';
import type { WebSocket } from 'ws';

/** Milliseconds for the call that `hub.connect` asks for. */
const CALL_MS = 10_000;
/** Calls of one node that may be awaited. */
const AWAITED_MAX = 64;

export interface LineRequest {
  readonly role: Role;
  readonly client: Hello['client'];
  readonly offer: Pick<Hello, 'protocol' | 'capabilities'>;
}

export interface NodeWay {
  readonly kind: 'dialled' | 'calls-home';
  /** A further line for one client; `main`: the hub's own connection to that node. Fails as `connectNode` does. */
  openLine(main: NodeConnection, request: LineRequest): Promise<NodeLine>;
}

export type DialTarget = { readonly socketPath: string } | { readonly url: string; readonly token: string };

export class DialledWay implements NodeWay {
  readonly kind = 'dialled';
  readonly target: DialTarget;

  constructor(target: DialTarget) {
    this.target = target;
  }

  connect(client: Hello['client']): Promise<NodeConnection> {
    return connectNode({ ...this.target, client, role: 'operator', watchesLiveness: true });
  }

  openLine(_: NodeConnection, request: LineRequest): Promise<NodeLine> {
    return openLine({ ...this.target, ...request, watchesLiveness: true });
  }
}

export class CallingWay implements NodeWay {
  readonly kind = 'calls-home';
  readonly #hubId: HubId;
  readonly #token: Token;
  readonly #awaited = new Map<string, (webSocket: WebSocket) => void>();

  constructor({ hubId, token }: { readonly hubId: HubId; readonly token: Token }) {
    this.#hubId = hubId;
    this.#token = token;
  }

  /** A call of the node for itself. Fails as `connectNode` does. */
  accept(webSocket: WebSocket, client: Hello['client']): Promise<NodeConnection> {
    return connectCaller(webSocket, { token: this.#token, role: 'operator', client });
  }

  awaits(channel: string): boolean {
    return this.#awaited.has(channel);
  }

  /** A call that was asked for; false when none of that name is awaited. */
  answered(channel: string, webSocket: WebSocket): boolean {
    const take = this.#awaited.get(channel);
    if (take === undefined) return false;
    take(webSocket);
    return true;
  }

  async openLine(main: NodeConnection, request: LineRequest): Promise<NodeLine> {
    if (this.#awaited.size >= AWAITED_MAX) throw new FailureError('backend-busy');
    const channel = randomBytes(16).toString('hex');
    const call = this.#await(channel);
    try {
      await main.request('hub.connect', { hubId: this.#hubId, channel }, { timeoutMs: CALL_MS });
    } catch (error) {
      call.cancel();
      throw error;
    }
    return callerLine(await call.arrived, { token: this.#token, ...request });
  }

  #await(channel: string): { readonly arrived: Promise<WebSocket>; readonly cancel: () => void } {
    let cancel: () => void = () => undefined;
    const arrived = new Promise<WebSocket>((resolve, reject) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#awaited.delete(channel);
      };
      const timer = setTimeout(() => {
        done();
        reject(new FailureError('node-unresponsive'));
      }, CALL_MS);
      this.#awaited.set(channel, (webSocket) => {
        done();
        resolve(webSocket);
      });
      cancel = () => {
        done();
        reject(new FailureError('connection-lost'));
      };
    });
    // Whoever cancels does not wait for it.
    arrived.catch(() => undefined);
    return { arrived, cancel };
  }
}
