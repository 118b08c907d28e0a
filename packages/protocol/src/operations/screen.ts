import * as z from 'zod';
import { SESSIONS_MAX } from '../bounds.ts';
import { SessionId } from '../ids.ts';
import { operation } from '../operation.ts';

export const screenWatch = operation({
  name: 'screen.watch',
  summary:
    'Sends this connection the screens of terminal sessions as they change: the newest of each, never a backlog. Replaces an earlier watch.',
  access: 'observer',
  capability: 'terminal-frame-events-v1',
  params: () =>
    z.strictObject({ sessions: z.union([z.literal('all'), z.array(SessionId).max(SESSIONS_MAX)]) }),
  result: () => z.object({}),
  failures: [],
});

export const screenUnwatch = operation({
  name: 'screen.unwatch',
  summary: 'Ends the watch of this connection.',
  access: 'observer',
  capability: 'terminal-frame-events-v1',
  params: () => z.strictObject({}),
  result: () => z.object({}),
  failures: [],
});
