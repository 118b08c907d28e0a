import type { z } from 'zod';
import type { FailureCode } from './failures.ts';

/** Who may call: each level includes the ones before it. */
export type Access = 'observer' | 'operator';

/** Something that one operation at a time may change; `shared` holders exclude only exclusive ones. */
export interface Lock {
  readonly key: string;
  readonly mode: 'shared' | 'exclusive';
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
  readonly params: Params;
  readonly result: Result;
  /** Failures beyond those that any operation can answer (`COMMON_FAILURES`). */
  readonly failures: readonly FailureCode[];
  /** Locks taken, in key order, before the handler runs; held until it answers. */
  readonly locks: (params: z.infer<Params>) => readonly Lock[];
}

/** What a peer may or may not know; the connection uses the intersection of both offers. */
export const CAPABILITIES = ['terminal-attach-v1', 'event-journal-v1', 'pipe-output-v1'] as const;
export type Capability = (typeof CAPABILITIES)[number];

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

/** Declares an operation; see ARCHITECTURE "operations table". */
export function operation<const Name extends string, Params extends z.ZodType, Result extends z.ZodType>(
  declaration: Omit<Operation<Name, Params, Result>, 'locks'> & {
    locks?: Operation<Name, Params, Result>['locks'];
  },
): Operation<Name, Params, Result> {
  return { locks: () => [], ...declaration };
}

export const sessionLock = (id: string, mode: Lock['mode'] = 'exclusive'): Lock => ({
  key: `session:${id}`,
  mode,
});
export const workspacesLock = (): Lock => ({ key: 'workspaces', mode: 'exclusive' });
