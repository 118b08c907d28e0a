// A mutation with its two lines in the audit log: nothing is done when the first cannot be written.
import { FailureError } from '@roost/protocol';
import type { Audit, AuditedRequest } from '../audit/audit.ts';

/** @throws what `act` throws; FailureError: storage-full, storage-failed. */
export async function audited<Result>(
  audit: Audit,
  request: AuditedRequest,
  act: () => Result | Promise<Result>,
): Promise<Result> {
  const answered = audit.asked(request);
  try {
    const result = await act();
    answered('done');
    return result;
  } catch (error) {
    answered(error instanceof FailureError ? error.failure.code : 'internal-error');
    throw error;
  }
}
