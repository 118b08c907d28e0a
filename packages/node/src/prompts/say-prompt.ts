// Giving a prompt to an agent that is spoken with: the conversation itself tells how far it comes.
import type { Params, Result } from '@roost/protocol';
import type { Conversation } from '../conversations/conversation.ts';
import { Deadline } from '../deadline.ts';

/**
 * Answers how far it came: less than `accepted` or `answered` when no more is known after `waitMs`.
 * @throws FailureError: turn-in-flight, backend-busy; session-not-running when it ends before.
 */
export async function sayPrompt(
  conversation: Conversation,
  { text, until, waitMs }: Pick<Params<'session.prompt'>, 'text' | 'until' | 'waitMs'>,
  signal: AbortSignal,
): Promise<Result<'session.prompt'>> {
  const job = await conversation.prompt(text, until === 'queued');
  const isProofWanted = until === 'accepted' || until === 'answered';
  const deadline = isProofWanted ? Deadline.in(waitMs) : new Deadline(null);
  await deadline.race(job.reach(until, signal));
  return {
    delivery: job.state,
    bytesWritten: job.state === 'queued' ? 0 : Buffer.byteLength(text),
    position: job.position,
    outcome: job.outcome,
  };
}
