// Whether a caller may touch something: asked with the value that is then acted on. A caller that could not see it gets the same
// answer as for what does not exist, so nothing can be found out by trying.
import { FailureError, type Capability, type FailureCode, type FailureDetails } from '@roost/protocol';
import type * as z from 'zod';
import type { Caller } from './handlers.ts';

/**
 * The value, when it is there and the caller may see it.
 * @throws FailureError: unsupported-capability when the caller lacks a capability that hides such things, else `missing`.
 */
export function visible<Value>(
  caller: Pick<Caller, 'projection'>,
  schema: z.ZodType,
  found: { readonly value: Value; readonly view: unknown } | null,
  missing: { readonly code: FailureCode; readonly details: FailureDetails },
): Value {
  if (found === null) {
    const hiding = caller.projection.mayHide(schema);
    if (hiding !== null) throw unsupported(hiding);
    throw new FailureError(missing.code, missing.details);
  }
  mayUse(caller, schema, found.view);
  return found.value;
}

/** @throws FailureError: unsupported-capability when the value uses something that the caller does not know. */
export function mayUse(caller: Pick<Caller, 'projection'>, schema: z.ZodType, view: unknown): void {
  const lacking = caller.projection.lacks(schema, view);
  if (lacking !== null) throw unsupported(lacking);
}

function unsupported(capability: Capability): FailureError {
  return new FailureError('unsupported-capability', { capability });
}
