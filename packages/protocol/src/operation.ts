import type { z } from 'zod';
import type { Capability } from './capabilities.ts';
import type { FailureCode } from './failures.ts';

/**
 * Who may call. observer: every authenticated connection. operator: not observers. controller: an operator that holds the
 * controller lease, or takes it for the moment of this request (`Request.lease`).
 */
export type Access = 'observer' | 'operator' | 'controller';

/** Something that one operation at a time may change. */
export interface Lock {
  readonly key: string;
}

export interface Operation<
  Name extends string = string,
  Params extends z.ZodType = z.ZodType,
  Result extends z.ZodType = z.ZodType,
> {
  /** Dotted camelCase, verb last. */
  readonly name: Name;
  /** One sentence for people; becomes the reference page and the help of `roost api`. */
  readonly summary: string;
  readonly access: Access;
  /** Negotiated capability; null for what every peer has. */
  readonly capability: Capability | null;
  /** Built at first use: a command uses few of the operations, and building all of them is a good part of its start. */
  readonly params: Params;
  readonly result: Result;
  /** Failures beyond those that any operation can answer (`COMMON_FAILURES`, `ACCESS_FAILURES`). */
  readonly failures: readonly FailureCode[];
  /** Locks taken, in key order, before the handler runs; held until it answers. */
  readonly locks: (params: z.infer<Params>) => readonly Lock[];
}

/** Failures that every operation can answer. */
export const COMMON_FAILURES = [
  'invalid-request',
  'unknown-operation',
  'unsupported-capability',
  'request-timed-out',
  'shutting-down',
  'storage-full',
  'storage-failed',
  'internal-error',
] as const satisfies readonly FailureCode[];

/** Failures that the access of an operation adds. */
export const ACCESS_FAILURES = {
  observer: [],
  operator: ['observer-read-only'],
  controller: ['observer-read-only', 'controller-required', 'controller-busy'],
} as const satisfies Record<Access, readonly FailureCode[]>;

/** Declares an operation; see ARCHITECTURE "operations table". */
export function operation<const Name extends string, Params extends z.ZodType, Result extends z.ZodType>(
  declaration: Omit<Operation<Name, Params, Result>, 'locks' | 'params' | 'result'> & {
    params: () => Params;
    result: () => Result;
    locks?: Operation<Name, Params, Result>['locks'];
  },
): Operation<Name, Params, Result> {
  const { params, result, locks = () => [], ...facts } = declaration;
  let builtParams: Params | undefined;
  let builtResult: Result | undefined;
  return {
    ...facts,
    locks,
    get params() {
      return (builtParams ??= params());
    },
    get result() {
      return (builtResult ??= result());
    },
  };
}

export const sessionLock = (id: string): Lock => ({ key: `session:${id}` });
export const recordLock = (id: string): Lock => ({ key: `record:${id}` });
export const workspacesLock = (): Lock => ({ key: 'workspaces' });
