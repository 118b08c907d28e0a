/** JSON-RPC 2.0, one object a line, as Codex and ACP speak it over standard streams. Codex leaves out `jsonrpc`. */
import * as z from 'zod';
import { isObject, readObject } from './json-object.ts';

export const RpcId = z.union([z.string(), z.number()]);
export type RpcId = z.infer<typeof RpcId>;

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
}

export type RpcMessage =
  | { readonly kind: 'request'; readonly id: RpcId; readonly method: string; readonly params: unknown }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
  | { readonly kind: 'result'; readonly id: RpcId; readonly result: unknown }
  | { readonly kind: 'error'; readonly id: RpcId; readonly error: RpcError };

export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;

/** null: not a message of the protocol. */
export function readRpcMessage(line: string): RpcMessage | null {
  const value = readObject(line);
  if (value === null) return null;
  const { id, method, params } = value;
  if (typeof method === 'string') {
    if (id === undefined || id === null) return { kind: 'notification', method, params };
    return isRpcId(id) ? { kind: 'request', id, method, params } : null;
  }
  if (!isRpcId(id)) return null;
  if (isObject(value.error)) {
    const { code, message, data } = value.error;
    return {
      kind: 'error',
      id,
      error: {
        code: typeof code === 'number' ? code : 0,
        message: typeof message === 'string' ? message : '',
        data,
      },
    };
  }
  return 'result' in value ? { kind: 'result', id, result: value.result } : null;
}

const isRpcId = (id: unknown): id is RpcId =>
  typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id));

/** Our requests that wait for a response, each with what it was for. Their ids go on counting after a crash. */
export class RpcCalls<Purpose extends { readonly method: string }> {
  readonly #write: (line: string) => void;
  #lastId: number;
  readonly #pending: Map<RpcId, Purpose>;

  constructor(write: (line: string) => void, state?: RpcCallsState<Purpose>) {
    this.#write = write;
    this.#lastId = state?.lastId ?? 0;
    this.#pending = new Map(state?.pending ?? []);
  }

  request(purpose: Purpose, params: unknown): void {
    this.#lastId += 1;
    this.#pending.set(this.#lastId, purpose);
    this.#send({ id: this.#lastId, method: purpose.method, params });
  }

  notify(method: string, params?: unknown): void {
    this.#send(params === undefined ? { method } : { method, params });
  }

  respond(id: RpcId, result: unknown): void {
    this.#send({ id, result });
  }

  fail(id: RpcId, code: number, message: string): void {
    this.#send({ id, error: { code, message } });
  }

  /** How many wait. */
  get pending(): number {
    return this.#pending.size;
  }

  /** @returns false when the line, or the notification that it is, was not understood. */
  receive(line: string, handler: RpcHandler<Purpose>): boolean {
    const received = readRpcMessage(line);
    if (received === null) return false;
    switch (received.kind) {
      case 'notification':
        return handler.notification(received.method, received.params);
      case 'request':
        handler.request(received.id, received.method, received.params);
        return true;
      case 'result': {
        const purpose = this.#take(received.id);
        if (purpose !== null) handler.result(purpose, received.result);
        return true;
      }
      case 'error': {
        const purpose = this.#take(received.id);
        if (purpose !== null) handler.error(purpose, received.error);
        return true;
      }
    }
  }

  state(): RpcCallsState<Purpose> {
    return { lastId: this.#lastId, pending: [...this.#pending] };
  }

  /** What a response is to; null when nothing waits for it (any more). */
  #take(id: RpcId): Purpose | null {
    const purpose = this.#pending.get(id) ?? null;
    this.#pending.delete(id);
    return purpose;
  }

  #send(message: object): void {
    this.#write(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }
}

/** What the other side of an exchange wants of us. */
export interface RpcHandler<Purpose> {
  /** @returns false when it is not what its method says. */
  notification(method: string, params: unknown): boolean;
  request(id: RpcId, method: string, params: unknown): void;
  /** Of a request of ours. */
  result(purpose: Purpose, result: unknown): void;
  error(purpose: Purpose, error: RpcError): void;
}

export interface RpcCallsState<Purpose> {
  lastId: number;
  pending: [RpcId, Purpose][];
}

export const rpcCallsState = <Purpose extends z.ZodType>(purpose: Purpose) =>
  z.object({ lastId: z.int().nonnegative(), pending: z.array(z.tuple([RpcId, purpose])) });
