// Looking around on the machine, bounded in time and in how many look at once.
import { FailureError } from '@roost/protocol';
import type { Handlers } from '../control/handlers.ts';
import type { Slots } from '../control/slots.ts';
import { Deadline, OVER } from '../deadline.ts';
import { BROWSE_MS, browseDirectories } from './browse-directories.ts';

/** Where one starts who names no directory. */
const TOP = process.platform === 'win32' ? 'C:\\' : '/';

export function browseOperations(slots: Slots): Pick<Handlers, 'host.browseDirectories'> {
  return {
    'host.browseDirectories': async ({ directory = TOP, after = null }) => {
      const giveBack = slots.take();
      const stop = new AbortController();
      // A directory that does not answer keeps its slot until it does: what hangs is not started again and again.
      const reading = browseDirectories({ directory, after }, stop.signal).finally(giveBack);
      const listing = await Deadline.in(BROWSE_MS).race(reading);
      if (listing !== OVER) return listing;
      stop.abort();
      throw new FailureError('host-directory-read-timed-out', { directory, limitMs: BROWSE_MS });
    },
  };
}
