/**
 * The requests of one connection that wait for their answers. Each ends exactly once: by its answer, its deadline, its signal, or the loss of
 * the connection.
 */
import {
  FailureError,
  OPERATIONS,
  type Failure,
  type OperationName,
  type ParamsInput,
  type Request,
  type Result,
} from '@roost/protocol';
import { ONE_SHOT } from './frame-value.ts';
import { requestMessages } from './request-messages.ts';

/** Milliseconds that a request may take unless it names its own deadline. */
const REQUEST_TIMEOUT_MS = 30_000;

export interface RequestOptions {
  /** Milliseconds; the request then fails with `request-timed-out`, but may still land. */
  readonly timeoutMs?: number;
  /** Stops waiting; like the deadline, it does not take the request back. */
  readonly signal?: AbortSignal;
  /**
   * brief: take the controller lease for this request alone, when nobody holds it. held: count on the lease of
   * `controller.acquire`. By default held once that has succeeded on this connection, brief before.
   */
  readonly lease?: 'brief' | 'held';
}

interface OpenRequest {
  settle(outcome: { readonly result: unknown } | { readonly error: unknown }): void;
}

export class OpenRequests {
  readonly #send: (message: string) => void;
  readonly #open = new Map<number, OpenRequest>();
  /** Whether `controller.acquire` succeeded here: losing the lease afterwards is to be noticed, not papered over. */
  #holdsLease = false;
  #nextId = 1;
  #closed = false;

  constructor(send: (message: string) => void) {
    this.#send = send;
  }

  /** Rejects with `FailureError` on every refusal; with the reason of `signal` when that aborts. */
  ask<Name extends OperationName>(
    name: Name,
    params: ParamsInput<Name>,
    options: RequestOptions = {},
  ): Promise<Result<Name>> {
    const { timeoutMs = REQUEST_TIMEOUT_MS, signal } = options;
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(abortReason(signal));
        return;
      }
      if (this.#closed) {
        reject(new FailureError('connection-lost'));
        return;
      }
      const id = this.#nextId++;
      const messages = requestMessages({
        kind: 'request',
        id,
        operation: name,
        params,
        deadlineMs: Math.max(1, Math.ceil(timeoutMs)),
        ...this.#lease(name, options),
      });
      const settle: OpenRequest['settle'] = (outcome) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.#open.delete(id);
        if ('error' in outcome) {
          reject(outcome.error instanceof Error ? outcome.error : new Error(String(outcome.error)));
          return;
        }
        if (name === 'controller.acquire') this.#holdsLease = true;
        if (name === 'controller.release') this.#holdsLease = false;
        const parsed = OPERATIONS[name].result.safeParse(outcome.result, ONE_SHOT);
        // The declaration of `name` is where both the schema and the type come from.
        if (parsed.success) resolve(parsed.data as Result<Name>);
        else reject(new FailureError('internal-error', { operation: name }, { cause: parsed.error }));
      };
      const onAbort = (): void => settle({ error: signal === undefined ? undefined : abortReason(signal) });
      const timer = setTimeout(
        () => settle({ error: new FailureError('request-timed-out', { operation: name, timeoutMs }) }),
        timeoutMs,
      );
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#open.set(id, { settle });
      for (const message of messages) this.#send(message);
    });
  }

  answered(frame: { readonly id: number; readonly result?: unknown }): void {
    this.#open.get(frame.id)?.settle({ result: frame.result });
  }

  refused({ id, failure }: { readonly id: number; readonly failure: Failure }): void {
    this.#open.get(id)?.settle({ error: FailureError.from(failure) });
  }

  /** Those that wait, and all later ones, fail with `connection-lost`. */
  close(): void {
    this.#closed = true;
    for (const open of [...this.#open.values()]) open.settle({ error: new FailureError('connection-lost') });
  }

  #lease(name: OperationName, { lease }: RequestOptions): Pick<Request, 'lease'> {
    const isBrief = lease === undefined ? !this.#holdsLease : lease === 'brief';
    return isBrief && OPERATIONS[name].access === 'controller' ? { lease: 'brief' } : {};
  }
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error
    ? signal.reason
    : new DOMException('The request was aborted.', 'AbortError');
}
