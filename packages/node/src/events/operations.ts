// Reading and following the journal.
import type { Handlers } from '../control/handlers.ts';
import type { Journal } from './journal.ts';

export function eventOperations(journal: Journal): Pick<Handlers, 'events.read' | 'events.subscribe'> {
  return {
    'events.read': ({ after, limit }) => {
      const { floor, last } = journal.range();
      const from = after >= 0 ? after : Math.max(0, last + after);
      return { events: journal.read(from, limit), floor, last };
    },
    'events.subscribe': ({ after }, caller) => {
      caller.followEvents(after);
      return { last: journal.range().last };
    },
  };
}
