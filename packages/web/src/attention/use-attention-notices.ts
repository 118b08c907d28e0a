import { useEffect, useRef } from 'react';
import type { SessionId } from '@roost/protocol';
import { useView } from '../hub/hub-context.tsx';
import { stateWords } from '../parts/session-words.ts';
import { sessionPath } from '../shell/pages.ts';
import { newNotices, toldAfter } from './waiting-sessions.ts';

/** Notices of one change: after a long absence there may be many, and nobody reads them. */
const NOTICES_AT_ONCE_MAX = 4;

/** Tells of sessions that need a person by the system's notices, while the page is not looked at and where that was allowed. */
export function useAttentionNotices(): void {
  const view = useView();
  const told = useRef<ReadonlyMap<SessionId, string> | null>(null);
  useEffect(() => {
    if (view === null) return;
    const before = told.current;
    told.current = toldAfter(view);
    // What waits already when the page opens is on the page.
    if (before === null || !mayNotify() || document.visibilityState === 'visible') return;
    for (const { session } of newNotices(view, before).slice(0, NOTICES_AT_ONCE_MAX)) {
      const node = view.nodes.get(session.nodeId);
      const notice = new Notification(`${session.name} ${stateWords(session).text}`, {
        body: `${session.provider} in ${session.workspaceId}${node === undefined ? '' : ` on ${node.name}`}`,
        tag: session.id,
      });
      notice.onclick = () => {
        window.focus();
        location.hash = sessionPath(session.id);
        notice.close();
      };
    }
  }, [view]);
}

function mayNotify(): boolean {
  return 'Notification' in window && Notification.permission === 'granted';
}
