// The operations on the node itself.
import { availableParallelism, loadavg } from 'node:os';
import { FailureError, STOP_GRACE_MS_DEFAULT, type NodeStatus } from '@roost/protocol';
import type { Handlers } from './control/handlers.ts';
import type { Journal } from './events/journal.ts';
import type { HomePaths } from './home/paths.ts';
import type { KeeperPool } from './keepers/keeper-pool.ts';
import type { NodeIdentity } from './node-identity.ts';
import { countSessions, isLive, listSessions, sessionView } from './sessions/session-table.ts';
import { existingSession, stopSession, type StopScene } from './sessions/stop.ts';
import type { Sql } from '@roost/storage';
import { countWorkspaces } from './workspaces/workspaces.ts';

export interface NodeScene extends StopScene {
  readonly identity: NodeIdentity;
  readonly version: string;
  readonly paths: HomePaths;
  readonly keepers: Pick<KeeperPool, 'get' | 'child' | 'views'>;
  readonly journal: Journal;
  readonly server: () => Pick<NodeStatus, 'connections' | 'listening'>;
  /** Begins the stop of this node; the answer to the request still goes out. */
  readonly requestStop: () => void;
}

/** Names that a failed stop tells. */
const NAMES_TOLD_MAX = 16;
/** Times that new sessions are looked for while all are being stopped. */
const STOP_ROUNDS = 3;

export function nodeOperations(scene: NodeScene): Pick<Handlers, 'node.status' | 'node.shutdown'> {
  const { store, identity, paths } = scene;
  return {
    'node.status': async () => ({
      nodeId: identity.nodeId,
      incarnation: identity.incarnation,
      version: scene.version,
      pid: process.pid,
      startedAt: identity.startedAt.toISOString(),
      home: paths.home,
      socket: paths.socket,
      platform: `${process.platform}-${process.arch}`,
      runtime: `node ${process.version}`,
      residentBytes: process.memoryUsage.rss(),
      machine: { processors: availableParallelism(), loadAverage: loadavg()[0] ?? 0 },
      ...scene.server(),
      workspaces: countWorkspaces(store.sql),
      sessions: countSessions(store.sql),
      lastEventSequence: scene.journal.range().last,
      keepers: await scene.keepers.views(),
    }),

    'node.shutdown': async ({ stopSessions }) => {
      const stoppedSessions = stopSessions ? await stopAll(scene) : 0;
      scene.requestStop();
      return { stoppedSessions };
    },
  };
}

/** Ends every session, also those that came meanwhile, or refuses and leaves the node running. */
async function stopAll(scene: NodeScene): Promise<number> {
  const failed: string[] = [];
  let stopped = 0;
  for (let round = 0; round < STOP_ROUNDS && failed.length === 0; round += 1) {
    const rows = listSessions(scene.store.sql, false, -1);
    if (rows.length === 0) return stopped;
    await Promise.all(
      rows.map(async ({ id, name }) => {
        try {
          const locate = (sql: Sql) => existingSession(sql, id);
          await stopSession(scene, { sessionId: id, locate, force: false, graceMs: STOP_GRACE_MS_DEFAULT });
          stopped += 1;
        } catch {
          failed.push(name);
        }
      }),
    );
  }
  // Those that came during the last round; one whose end is only not stored yet has gone.
  const left = listSessions(scene.store.sql, false, -1).filter((row) =>
    isLive(sessionView(row, scene.keepers.child(row.keeper_id, row.id))),
  );
  if (failed.length === 0) failed.push(...left.map(({ name }) => name));
  if (failed.length > 0)
    throw new FailureError('stop-incomplete', { sessions: failed.slice(0, NAMES_TOLD_MAX) });
  return stopped;
}
