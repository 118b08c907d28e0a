// The next newer screen of a session, from the keeper that holds it.
import { FailureError } from '@roost/protocol';
import type { ScreenFrame } from '@roost/keeper/wire';
import type { KeeperLink } from './keeper-link.ts';

/** null when there is none to be had now. */
export async function nextFrame(
  link: KeeperLink | null,
  sessionId: string,
  after: number,
): Promise<ScreenFrame | null> {
  if (link?.isConnected !== true) return null;
  try {
    return await link.call('nextFrame', { sessionId, after }, null);
  } catch (error) {
    // Gone, released, or a keeper of before that knows no frames.
    if (error instanceof FailureError) return null;
    throw error;
  }
}
