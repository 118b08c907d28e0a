// Reading and following the journal.
import type { Handlers } from '../control/handlers.ts';
import type { Journal } from './journal.ts';

export function eventOperations(journal: Journal): Pick<Handlers, 'events.read' | 'events.subscribe'> {
  return {
    'events.read': ({ after, limit }) => {
      const { floor, last } = journal.range();
      const from = after >= 0 ? after : Math.max(0, last + after);
      return { events: journal.read(from, limit).map((stored) => stored.event()), floor, last };
    },

    'events.subscribe': ({ after, incarnation }, { lanes }) => {
      const { floor, last } = journal.range();
      const resyncRequired = !journal.continues({ after, incarnation });
      if (resyncRequired) lanes.resyncEvents(floor, last);
      else lanes.followEvents(after);
      return { last, floor, resyncRequired };
    },
  };
}
