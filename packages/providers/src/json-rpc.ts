/** JSON-RPC 2.0, one object a line, as Codex and ACP speak it over standard streams. Codex leaves out `jsonrpc`. */

export type RpcId = string | number;

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

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The JSON object that a line is; null for everything else. */
export function readObject(line: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

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

  /** What a response is to; null when nothing waits for it (any more). */
  take(id: RpcId): Purpose | null {
    const purpose = this.#pending.get(id) ?? null;
    this.#pending.delete(id);
    return purpose;
  }

  /** How many wait. */
  get pending(): number {
    return this.#pending.size;
  }

  state(): RpcCallsState<Purpose> {
    return { lastId: this.#lastId, pending: [...this.#pending] };
  }

  #send(message: object): void {
    this.#write(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }
}

export interface RpcCallsState<Purpose> {
  readonly lastId: number;
  readonly pending: readonly (readonly [RpcId, Purpose])[];
}
