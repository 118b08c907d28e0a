// Who may read the bytes of a session on pipes.
import { FailureError } from '@roost/protocol';
import type { Caller } from '../control/handlers.ts';
import type { SessionRow } from './session-table.ts';

/**
 * What an agent that is spoken with writes is all that it was told and asks, as in its timeline: for those who may answer.
 * @throws FailureError: unsupported-transport, observer-read-only.
 */
export function requireOutput(
  { role }: Pick<Caller, 'role'>,
  { id: sessionId, transport, protocol }: SessionRow,
): void {
  if (transport !== 'pipe') throw new FailureError('unsupported-transport', { sessionId });
  if (protocol !== null && role === 'observer') throw new FailureError('observer-read-only', {});
}
