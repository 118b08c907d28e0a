import * as z from 'zod';
import { Incarnation, KeeperId, NodeId } from '../ids.ts';
import { operation } from '../operation.ts';

export const KeeperView = z.object({
  id: KeeperId,
  pid: z.int(),
  /** Version of Roost that the keeper was started from; an older one drains. */
  version: z.string(),
  sessions: z.int().nonnegative(),
  /** `draining`: adopted from another version, gets no new sessions. */
  state: z.enum(['serving', 'draining']),
  residentBytes: z.int().nonnegative(),
});
export type KeeperView = z.infer<typeof KeeperView>;

export const NodeStatus = z.object({
  nodeId: NodeId,
  incarnation: Incarnation,
  version: z.string(),
  pid: z.int(),
  startedAt: z.iso.datetime(),
  home: z.string(),
  socket: z.string(),
  platform: z.string(),
  runtime: z.string(),
  residentBytes: z.int().nonnegative(),
  connections: z.int().nonnegative(),
  workspaces: z.int().nonnegative(),
  sessions: z.object({ live: z.int().nonnegative(), ended: z.int().nonnegative() }),
  lastEventSequence: z.int().nonnegative(),
  keepers: z.array(KeeperView),
});
export type NodeStatus = z.infer<typeof NodeStatus>;

export const nodeStatus = operation({
  name: 'node.status',
  summary: 'Tells what this node is and holds.',
  access: 'observer',
  capability: null,
  params: z.strictObject({}),
  result: NodeStatus,
  failures: [],
});

export const nodeShutdown = operation({
  name: 'node.shutdown',
  summary: 'Stops the node; its sessions go on running unless `stopSessions` is true.',
  access: 'operator',
  capability: null,
  params: z.strictObject({ stopSessions: z.boolean().default(false) }),
  result: z.object({ stoppedSessions: z.int().nonnegative() }),
  failures: ['stop-incomplete'],
});
