// Things as a hub tells them, for tests: whole, with what matters to a test said by it.
import { HubNode, HubSession, type Activity, type NodeId } from '@roost/protocol';
import type { SeenSession } from '@roost/client/browser';

export const NODE_ID = 'aaaaaaaaaaaaaaaa' as NodeId;
const AT = '2026-01-01T00:00:00Z';
let count = 0;
const freshId = (): string => (++count).toString(16).padStart(16, '0');

export function node(
  said: { name?: string; id?: string; state?: string; reason?: string | null } = {},
): HubNode {
  return HubNode.parse({
    id: said.id ?? NODE_ID,
    name: said.name ?? 'mill',
    way: 'calls-home',
    link: { state: said.state ?? 'online', since: AT, reason: said.reason ?? null, attempts: 0 },
    incarnation: 'bbbbbbbbbbbbbbbb',
    version: '0.1.0',
    sequence: 1,
    seenAt: AT,
    sessions: { live: 0, blocked: 0 },
    enrolledAt: AT,
  });
}

type SaidSession = Partial<Record<Exclude<keyof HubSession, 'activity'>, unknown>> & {
  activity?: Partial<Activity> | null;
  nodeId?: NodeId;
};

export function session({ activity, nodeId = NODE_ID, ...said }: SaidSession = {}): SeenSession {
  const whole = {
    id: freshId(),
    recordId: null,
    generation: 1,
    name: 'builder',
    provider: 'claude',
    transport: 'pty',
    status: 'running',
    workspaceId: 'shop',
    protocol: null,
    size: { columns: 80, rows: 24 },
    activity:
      activity === null || activity === undefined
        ? null
        : { source: 'hooks', since: AT, reason: null, authority: null, detail: null, ...activity },
    createdAt: AT,
    endedAt: null,
    exitCode: null,
    exitSignal: null,
    endReason: null,
    attachedClients: 0,
  };
  return { ...HubSession.parse({ ...whole, ...said }), nodeId };
}
