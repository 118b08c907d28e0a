// Failures as problem details (RFC 9457).
import * as z from 'zod';
import { Failure, failure, FailureError, type FailureCode } from '@roost/protocol';
import { FAILURE_STATUS } from './failure-status.ts';

export const PROBLEM_TYPE = 'application/problem+json';

export const Problem = z.object({
  /** `urn:roost:failure:` and the code. */
  type: z.string(),
  /** The fixed sentence of the code. */
  title: z.string(),
  status: z.int(),
  code: Failure.shape.code,
  details: Failure.shape.details,
  /** As in the audit log and the log of the hub. */
  requestId: z.string(),
});
export type Problem = z.infer<typeof Problem>;

export function problemOf(
  { code, message, details }: Failure,
  requestId: string,
  status = FAILURE_STATUS[code],
): Problem {
  return {
    type: `urn:roost:failure:${code}`,
    title: message,
    status,
    code,
    ...(details === undefined ? {} : { details }),
    requestId,
  };
}

/** A failure whose status is not the one of its code: what only HTTP knows, such as a method that is not allowed. */
export class HttpFailure extends FailureError {
  readonly status: number;
  constructor(status: number, code: FailureCode, details?: Failure['details']) {
    super(code, details);
    this.status = status;
  }
}

/** null: nobody expected that error. */
export function expectedFailure(
  error: unknown,
): { readonly failure: Failure; readonly status: number } | null {
  if (error instanceof HttpFailure) return { failure: error.failure, status: error.status };
  if (error instanceof FailureError)
    return { failure: error.failure, status: FAILURE_STATUS[error.failure.code] };
  const status = statusOf(error);
  // Of the server itself: a body that is no JSON, too long, of another type.
  return status === null
    ? null
    : { failure: failure('invalid-request', { reason: REASONS[status] ?? 'malformed' }), status };
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'malformed',
  413: 'too large',
  415: 'not application/json',
};

function statusOf(error: unknown): number | null {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return null;
  const { statusCode } = error;
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500 ? statusCode : null;
}
