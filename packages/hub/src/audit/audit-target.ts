// What a request is about, as the audit log tells it: ids and names from a list, each held against its own schema, for a request may come
// here before anybody has read it. Texts, paths, prompts, commands and environments are in no field of the list.
import * as z from 'zod';
import {
  HistoryId,
  HubId,
  HubRole,
  HubScope,
  IdempotencyKey,
  InteractionId,
  InviteId,
  LeaseChoice,
  LeaseId,
  NodeName,
  ProfileId,
  ProviderId,
  RecordId,
  SessionId,
  SessionName,
  TaskId,
  TokenId,
  UserName,
  WorkspaceId,
} from '@roost/protocol';

/** Text of every field that is told. */
const FIELDS: Readonly<Record<string, z.ZodType<string>>> = {
  workspaceId: WorkspaceId,
  sourceWorkspaceId: WorkspaceId,
  worktreeId: WorkspaceId,
  sessionId: SessionId,
  recordId: RecordId,
  leaseId: LeaseId,
  historyId: HistoryId,
  interactionId: InteractionId,
  taskId: TaskId,
  profileId: ProfileId,
  idempotencyKey: IdempotencyKey,
  provider: ProviderId,
  // Session, user or node: this is the widest of the three.
  name: SessionName,
  nodeName: NodeName,
  user: UserName,
  tokenId: TokenId,
  inviteId: InviteId,
  hubId: HubId,
  role: HubRole,
  mode: z.enum(['drive', 'watch']),
  // Of a managed worktree; what an agent offers as a choice is its own text.
  choice: LeaseChoice,
};
/** Parts of a request in which the fields are looked for as well. */
const CONTAINERS = ['target', 'spec', 'launch', 'worktree'];
/** How deep: `spec.target.workspaceId`. */
const DEPTH_MAX = 2;
/** Nodes of a scope that are named. */
const SCOPE_NODES_MAX = 16;

/** The first of each field that is met, the outermost first. */
export function auditTarget(params: unknown): Record<string, string> {
  const target: Record<string, string> = {};
  collect(params, target, DEPTH_MAX);
  return target;
}

function collect(params: unknown, target: Record<string, string>, depth: number): void {
  if (typeof params !== 'object' || params === null) return;
  const given = new Map<string, unknown>(Object.entries(params));
  for (const [field, schema] of Object.entries(FIELDS)) {
    const parsed = schema.safeParse(given.get(field));
    if (parsed.success) tell(target, field, parsed.data);
  }
  const disabled = given.get('disabled');
  const scope = given.get('scope');
  if (typeof disabled === 'boolean') tell(target, 'disabled', String(disabled));
  const nodes = scope === undefined ? null : scopeNodes(scope);
  if (nodes !== null) tell(target, 'scope', nodes);
  if (depth === 0) return;
  for (const container of CONTAINERS) collect(given.get(container), target, depth - 1);
}

function tell(target: Record<string, string>, field: string, text: string): void {
  target[field] ??= text;
}

/** The nodes of a scope; null when it is none. */
function scopeNodes(scope: unknown): string | null {
  const parsed = HubScope.nullable().safeParse(scope);
  if (!parsed.success) return null;
  if (parsed.data === null) return 'all';
  const ids = parsed.data.map(({ nodeId }) => nodeId);
  const more = ids.length > SCOPE_NODES_MAX ? [`and ${ids.length - SCOPE_NODES_MAX} more`] : [];
  return [...ids.slice(0, SCOPE_NODES_MAX), ...more].join(' ');
}
