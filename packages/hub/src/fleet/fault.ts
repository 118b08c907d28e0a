// What the log says of an error: of a failure its code alone, for its details may be what a node has written.
import { FailureError } from '@roost/protocol';

export function faultOf(error: unknown): Readonly<Record<string, unknown>> {
  if (error === undefined) return {};
  if (!(error instanceof FailureError)) return { err: error };
  const { cause } = error;
  const system =
    cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : null;
  return { failure: error.failure.code, ...(system === null ? {} : { system }) };
}
