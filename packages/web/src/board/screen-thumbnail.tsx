import type { SeenSession } from '@roost/client/browser';
import { useNodeQuery } from '../hub/queries.ts';
import { useGlance } from './use-glance.ts';
import styles from './board.module.css';

/** Lines that fit. */
const LINES_SHOWN = 9;

/** The lower part of a terminal as text; looked at again as long as it is in sight. */
export function ScreenThumbnail({
  session,
  isReachable,
}: {
  readonly session: SeenSession;
  readonly isReachable: boolean;
}) {
  const { ref, reading } = useGlance(session, { isReachable });
  const screen = useNodeQuery(session.nodeId, 'session.readScreen', { sessionId: session.id }, reading);
  const lines = lastWrittenLines(screen.data?.lines ?? []);
  return (
    // The card says what the session does; its screen is for the eye.
    <div
      ref={ref}
      className={lines.length > 0 ? styles.screen : `${styles.screen} ${styles.noScreen}`}
      aria-hidden="true"
      data-shown={screen.data !== undefined || undefined}
    >
      {lines.length > 0 ? lines.join('\n') : noLinesText(screen.isError, screen.isSuccess, isReachable)}
    </div>
  );
}

function lastWrittenLines(lines: readonly string[]): string[] {
  const last = lines.findLastIndex((line) => line.trim() !== '');
  return lines.slice(Math.max(0, last + 1 - LINES_SHOWN), last + 1);
}

function noLinesText(isError: boolean, isRead: boolean, isReachable: boolean): string {
  if (!isReachable) return 'its node is away';
  if (isError) return 'no picture of its screen';
  return isRead ? 'an empty screen' : '';
}
