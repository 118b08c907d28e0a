import type { SeenSession } from '@roost/client/browser';
import { useNodeQuery } from '../hub/queries.ts';
import { EMPTY_TIMELINE, foldTimeline } from '../session/timeline-model.ts';
import { lastWords } from './last-words.ts';
import { useGlance } from './use-glance.ts';
import styles from './board.module.css';

/** Bytes of its end that are read. */
const END_BYTES = 16 * 1024;

/** The last that was said or done in a conversation; looked at again as long as it is in sight. */
export function ConversationThumbnail({
  session,
  isReachable,
}: {
  readonly session: SeenSession;
  readonly isReachable: boolean;
}) {
  const { ref, reading } = useGlance(session, { isReachable });
  const end = useNodeQuery(
    session.nodeId,
    'session.readTimeline',
    { sessionId: session.id, from: -END_BYTES, waitMs: 0 },
    reading,
  );
  const words = end.data === undefined ? [] : lastWords(foldTimeline(EMPTY_TIMELINE, end.data.entries));
  return (
    // The card says what the session does; this is for the eye.
    <div
      ref={ref}
      className={styles.said}
      aria-hidden="true"
      data-shown={end.data !== undefined || undefined}
    >
      {words.map((text, index) => (
        <div key={index}>{text}</div>
      ))}
    </div>
  );
}
