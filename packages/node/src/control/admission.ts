// Every request passes here, in this order: known operation, capability, role and lease, parameters, locks, handler, what the
// peer may see of the result. Refusals before the locks cost nothing and change nothing. A deadline only ends the waiting of the
// client; the work runs on, gives its locks back itself, and counts as open until it has settled.
import {
  FailureError,
  HIDDEN,
  isOperationName,
  OPERATIONS,
  type Access,
  type Capability,
  type Lock,
  type OperationName,
  type Request,
} from '@roost/protocol';
import type { z } from 'zod';
import type { Log } from '@roost/storage';
import type { ControllerLease } from './controller-lease.ts';
import type { Caller, Handlers } from './handlers.ts';
import { KeyedLocks } from './keyed-locks.ts';
import { mayUse } from './visible.ts';

/** The table's entries with their types widened, which dispatch by name needs. */
interface AnyOperation {
  readonly access: Access;
  readonly capability: Capability | null;
  readonly params: z.ZodType;
  readonly result: z.ZodType;
  readonly locks: (params: unknown) => readonly Lock[];
}

type AskedRequest = Pick<Request, 'operation' | 'params' | 'deadlineMs' | 'lease'>;

export interface Admitted {
  /** The result, or the failure that the client gets: when the work settles, or at the deadline. */
  readonly answer: Promise<unknown>;
  /** The work is over, however it ended. */
  readonly settled: Promise<void>;
}

export interface AdmissionOptions {
  readonly handlers: Handlers;
  readonly lease: Pick<ControllerLease, 'admit'>;
  readonly log: Log;
  /** Holds every result against its schema: for tests. */
  readonly checkResults: boolean;
}

export class Admission {
  readonly #handlers: Handlers;
  readonly #lease: Pick<ControllerLease, 'admit'>;
  readonly #log: Log;
  readonly #checkResults: boolean;
  readonly #locks = new KeyedLocks();
  readonly #idle: (() => void)[] = [];
  #running = 0;
  #stopping = false;

  constructor({ handlers, lease, log, checkResults }: AdmissionOptions) {
    this.#handlers = handlers;
    this.#lease = lease;
    this.#log = log;
    this.#checkResults = checkResults;
  }

  admit(request: AskedRequest, caller: Caller): Admitted {
    const work = this.#work(request, caller);
    const { deadlineMs, operation } = request;
    return {
      answer: deadlineMs === undefined ? work : withDeadline(work, deadlineMs, operation),
      settled: work.then(ignore, ignore),
    };
  }

  /** Refuses what would change something from now on, and waits until what runs is done, or the time is over. */
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

  async #work(request: AskedRequest, caller: Caller): Promise<unknown> {
    const name = request.operation;
    if (!isOperationName(name)) throw new FailureError('unknown-operation', { operation: name });
    const operation = OPERATIONS[name] as unknown as AnyOperation;
    this.#running += 1;
    try {
      const { capability } = operation;
      if (capability !== null && !caller.projection.grants(capability)) {
        throw new FailureError('unsupported-capability', { capability });
      }
      this.#authorize(operation.access, request, caller);
      const parsed = operation.params.safeParse(request.params ?? {});
      if (!parsed.success) throw invalidRequest(parsed.error);
      mayUse(caller, operation.params, parsed.data);
      const locks = operation.locks(parsed.data);
      if (locks.length === 0) return await this.#run(name, operation, parsed.data, caller);
      const release = await this.#locks.acquire(locks);
      try {
        // The wait may have been long: what allowed the request may be over.
        this.#authorize(operation.access, request, caller);
        return await this.#run(name, operation, parsed.data, caller);
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

  async #run(
    name: OperationName,
    operation: AnyOperation,
    params: unknown,
    caller: Caller,
  ): Promise<unknown> {
    const handler = this.#handlers[name] as (params: unknown, caller: Caller) => unknown;
    const answer = await handler(params, caller);
    const result = this.#checkResults ? operation.result.parse(answer) : answer;
    const shown = caller.projection.show(operation.result, result);
    // Handlers ask before they act; this only keeps a mistake of theirs from telling anything.
    if (shown === HIDDEN) throw new FailureError('unsupported-capability');
    return shown;
  }

  #authorize(access: Access, { lease }: AskedRequest, caller: Caller): void {
    if (access === 'observer') return;
    if (caller.role === 'observer') throw new FailureError('observer-read-only');
    if (access === 'controller') this.#lease.admit(caller.connectionId, lease === 'brief');
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
