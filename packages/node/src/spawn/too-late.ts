// A launch that its deadline overtook.
import { FailureError } from '@roost/protocol';

export function tooLate(): FailureError {
  return new FailureError('spawn-deadline-exceeded');
}
