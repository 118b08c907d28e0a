import { expect, test } from 'vitest';
import { viewOf, type HubView, type SeenSession } from '@roost/client/browser';
import { session } from '../testing/things.ts';
import { newNotices, toldAfter, waitingSessions } from './waiting-sessions.ts';

const viewWith = (...sessions: SeenSession[]): HubView =>
  viewOf({ nodes: [], sessions, records: [], workspaces: [] });
const [EARLY, LATE] = ['2026-01-01T10:00:00Z', '2026-01-01T11:00:00Z'];

test('those that wait longest come first; what has ended waits for nobody', () => {
  const view = viewWith(
    session({ name: 'late', activity: { state: 'blocked', since: LATE } }),
    session({ name: 'early', activity: { state: 'blocked', since: EARLY } }),
    session({ name: 'over', status: 'exited', activity: { state: 'blocked', since: EARLY } }),
    session({ name: 'busy', activity: { state: 'working' } }),
  );
  expect(waitingSessions(view).map(({ name }) => name)).toEqual(['early', 'late']);
});

test('each occasion is told once: blocked, then blocked again later, then done', () => {
  const busy = session({ activity: { state: 'working' } });
  const steps: Partial<SeenSession['activity'] & object>[] = [
    { state: 'working' },
    { state: 'blocked', since: EARLY },
    { state: 'blocked', since: EARLY, detail: 'the same' },
    { state: 'blocked', since: LATE },
    { state: 'done', since: LATE },
    { state: 'idle', since: LATE },
  ];
  let told = toldAfter(viewWith(busy));
  const notices = steps.map((activity) => {
    const view = viewWith({ ...busy, activity: { ...busy.activity!, ...activity } });
    const kinds = newNotices(view, told).map(({ kind }) => kind);
    told = toldAfter(view);
    return kinds.join();
  });
  expect(notices).toEqual(['', 'blocked', '', 'blocked', 'done', '']);
});
