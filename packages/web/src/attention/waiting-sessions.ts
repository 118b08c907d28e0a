// Which sessions wait for a person: pure.
import type { HubView, SeenSession } from '@roost/client/browser';
import type { SessionId } from '@roost/protocol';
import { waitsForPerson } from '../parts/session-words.ts';

/** Those that wait longest first. */
export function waitingSessions(view: HubView): SeenSession[] {
  return [...view.sessions.values()]
    .filter(waitsForPerson)
    .toSorted((a, b) => (a.activity?.since ?? '').localeCompare(b.activity?.since ?? ''));
}

export interface AttentionNotice {
  readonly session: SeenSession;
  readonly kind: 'blocked' | 'done';
}

/**
 * What a person is to be told of after a change: sessions that came to wait, or whose agent has finished. Each once: `told` holds what was told
 * before, as `noticeKey` has it, and is not changed.
 */
export function newNotices(view: HubView, told: ReadonlyMap<SessionId, string>): AttentionNotice[] {
  return [...view.sessions.values()].flatMap((session): AttentionNotice[] => {
    const key = noticeKey(session);
    if (key === null || told.get(session.id) === key) return [];
    return [{ session, kind: waitsForPerson(session) ? 'blocked' : 'done' }];
  });
}

/** null: there is nothing to tell. The same as long as it is the same occasion. */
function noticeKey(session: SeenSession): string | null {
  const { activity } = session;
  if (waitsForPerson(session)) return `blocked ${activity?.since ?? ''}`;
  return session.status === 'running' && activity?.state === 'done' ? `done ${activity.since}` : null;
}

/** What has been told once everything there is now is. */
export function toldAfter(view: HubView): Map<SessionId, string> {
  return new Map(
    [...view.sessions.values()].flatMap((session): [SessionId, string][] => {
      const key = noticeKey(session);
      return key === null ? [] : [[session.id, key]];
    }),
  );
}
