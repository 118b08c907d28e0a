// Watching screens, and following output: what is pushed to a connection beside events.
import { Session } from '@roost/protocol';
import type { Handlers } from '../control/handlers.ts';
import { requireOutput } from '../sessions/output-access.ts';
import { locateById } from '../sessions/locate-session.ts';
import { OutputFollower } from '../sessions/output-follower.ts';
import type { PipeOutput } from '../sessions/pipe-output.ts';
import { storedView } from '../sessions/session-table.ts';
import type { Store } from '../store/store.ts';
import type { Screens } from './screens.ts';

type LaneOperation = 'screen.watch' | 'screen.unwatch' | 'session.followOutput' | 'session.unfollowOutput';

export function laneOperations(scene: {
  readonly store: Store;
  readonly screens: Screens;
  readonly output: PipeOutput;
}): Pick<Handlers, LaneOperation> {
  const { store, screens, output } = scene;
  return {
    'screen.watch': ({ sessions }, { lanes, projection }) => {
      lanes.watchScreens(
        screens.open({ sessions, mayWatch: (row) => projection.lacks(Session, storedView(row)) === null }),
      );
      return {};
    },

    'screen.unwatch': (_, { lanes }) => {
      lanes.watchScreens(null);
      return {};
    },

    'session.followOutput': ({ sessionId, stream, offset }, caller) => {
      const row = locateById(store.sql, caller, sessionId);
      requireOutput(caller, row);
      const { floor, end } = output.range(sessionId, stream);
      const from = offset < 0 ? Math.max(floor, end + offset) : Math.max(floor, offset);
      const session = { workspaceId: row.workspace_id, sessionId, generation: row.generation };
      const follower = new OutputFollower({ store, output, session, stream, from });
      caller.lanes.followOutput(keyOf(sessionId, stream), follower);
      return { offset: from };
    },

    'session.unfollowOutput': ({ sessionId, stream }, { lanes }) => {
      lanes.followOutput(keyOf(sessionId, stream), null);
      return {};
    },
  };
}

function keyOf(sessionId: string, stream: string): string {
  return `${sessionId} ${stream}`;
}
