// Every request passes here, in this order: known operation, capability, parameters, locks, handler, result. Access needs no
// check of its own: whoever can open the socket is the owner of the machine's account, an operator. A deadline only ends the
// waiting of the client; the work runs on, gives its locks back itself, and counts as open until it has settled.
import {
  FailureError,
  isOperationName,
  OPERATIONS,
  type Capability,
  type Lock,
  type Request,
} from '@roost/protocol';
import type { z } from 'zod';
import type { Log } from '../log.ts';
import type { Caller, Handlers } from './handlers.ts';
import { KeyedLocks } from './keyed-locks.ts';

/** The table's entries with their types widened, which dispatch by name needs. */
interface AnyOperation {
  readonly capability: Capability | null;
  readonly params: z.ZodType;
  readonly result: z.ZodType;
  readonly locks: (params: unknown) => readonly Lock[];
}

export interface Admitted {
  /** The result, or the failure that the client gets: when the work settles, or at the deadline. */
  readonly answer: Promise<unknown>;
  /** The work is over, however it ended. */
  readonly settled: Promise<void>;
}

export class Admission {
  readonly #handlers: Handlers;
  readonly #log: Log;
  readonly #locks = new KeyedLocks();
  readonly #idle: (() => void)[] = [];
  #running = 0;
  #stopping = false;

  constructor(handlers: Handlers, log: Log) {
    this.#handlers = handlers;
    this.#log = log;
  }

  admit(request: Pick<Request, 'operation' | 'params' | 'deadlineMs'>, caller: Caller): Admitted {
    const work = this.#work(request, caller);
    const { deadlineMs, operation } = request;
    return {
      answer: deadlineMs === undefined ? work : withDeadline(work, deadlineMs, operation),
      settled: work.then(ignore, ignore),
    };
  }

  /** Refuses whatever comes from now on, and waits until what runs is done, or the time is over. */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopping = true;
    if (this.#running > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        this.#idle.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    // The last answers are given in this turn of the event loop: they go out before anybody closes their connections.
    await new Promise((resolve) => setImmediate(resolve));
  }

  async #work(request: Pick<Request, 'operation' | 'params'>, caller: Caller): Promise<unknown> {
    const name = request.operation;
    if (!isOperationName(name)) throw new FailureError('unknown-operation', { operation: name });
    const operation = OPERATIONS[name] as unknown as AnyOperation;
    if (operation.capability !== null && !caller.capabilities.includes(operation.capability)) {
      throw new FailureError('unsupported-capability', { capability: operation.capability });
    }
    const parsed = operation.params.safeParse(request.params ?? {});
    if (!parsed.success) throw invalidRequest(parsed.error);
    this.#refuseWhenStopping();
    this.#running += 1;
    try {
      const release = await this.#locks.acquire(operation.locks(parsed.data));
      try {
        this.#refuseWhenStopping();
        const handler = this.#handlers[name] as (params: unknown, caller: Caller) => unknown;
        return operation.result.parse(await handler(parsed.data, caller));
      } finally {
        release();
      }
    } catch (error) {
      throw this.#expected(name, error);
    } finally {
      this.#running -= 1;
      if (this.#running === 0) for (const wake of this.#idle.splice(0)) wake();
    }
  }

  #refuseWhenStopping(): void {
    if (this.#stopping) throw new FailureError('shutting-down');
  }

  #expected(operation: string, error: unknown): FailureError {
    if (error instanceof FailureError) {
      if (error.cause !== undefined) this.#log.warn({ operation, err: error, cause: error.cause }, 'refused');
      return error;
    }
    this.#log.error({ operation, err: error }, 'an operation failed unexpectedly');
    return new FailureError('internal-error', {}, { cause: error });
  }
}

/** Issues told at most; each names a place in the request, never a value of it. */
const ISSUES_MAX = 8;

function invalidRequest(error: z.ZodError): FailureError {
  const issues = error.issues
    .slice(0, ISSUES_MAX)
    .map((issue) => `${issue.path.join('.') || 'params'}: ${issue.message}`.slice(0, 256));
  return new FailureError('invalid-request', { issues });
}

function ignore(): void {
  // The answer tells it.
}

async function withDeadline(work: Promise<unknown>, deadlineMs: number, operation: string): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new FailureError('request-timed-out', { operation, deadlineMs })),
      Math.min(deadlineMs, 0x7fffffff),
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
