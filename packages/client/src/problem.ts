// Refusals of a hub over HTTP (RFC 9457, `application/problem+json`) as the failures that they are.
import * as z from 'zod';
import { Failure, FailureError, type FailureCode, type FailureDetails } from '@roost/protocol';
import { ONE_SHOT } from './frame-value.ts';

const Problem = z.object({
  code: Failure.shape.code,
  details: Failure.shape.details.catch(undefined),
  requestId: z.string().optional().catch(undefined),
});

/** What a status says by itself, of a proxy in between or a hub of another version. */
const CODE_OF_STATUS: Readonly<Record<number, FailureCode>> = {
  400: 'invalid-request',
  401: 'unauthenticated',
  403: 'forbidden',
  429: 'rate-limited',
  502: 'hub-unreachable',
  503: 'hub-unreachable',
  504: 'request-timed-out',
};

/** `value`: the parsed body; undefined when it was no JSON. */
export function failureOfProblem(status: number, value: unknown): FailureError {
  const problem = Problem.safeParse(value, ONE_SHOT).data;
  if (problem === undefined) return new FailureError(CODE_OF_STATUS[status] ?? 'internal-error', { status });
  const { code, details, requestId } = problem;
  const told: FailureDetails = { ...details, ...(requestId === undefined ? {} : { requestId }) };
  return new FailureError(code, told);
}
