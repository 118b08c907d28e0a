// Lines of the audit log as people read them: pure.
import type { HubView } from '@roost/client/browser';
import type { AuditEntry } from '@roost/protocol';

/** One line for each act, newest first as the lines are: what came of it, or, as long as nothing has, that it was asked. */
export function auditActs(entries: readonly AuditEntry[]): AuditEntry[] {
  const answered = new Set(
    entries.filter(({ phase }) => phase === 'answered').map(({ requestId }) => requestId),
  );
  return entries.filter(({ phase, requestId }) => phase === 'answered' || !answered.has(requestId));
}

/** What it was done to, by the names that the hub knows: `session fix-login in shop on mill`. */
export function targetText({ target, nodeId }: AuditEntry, view: HubView | null): string {
  const { sessionId, recordId, workspaceId, idempotencyKey: _, ...rest } = target;
  return [
    ...(sessionId === undefined ? [] : [`session ${nameOf(view?.sessions, sessionId)}`]),
    ...(recordId === undefined ? [] : [`record ${nameOf(view?.records, recordId)}`]),
    ...Object.entries(rest).map(([name, value]) => `${name.replace(/Id$/, '')} ${value}`),
    ...(workspaceId === undefined ? [] : [`in ${workspaceId}`]),
    ...(nodeId === null ? [] : [`on ${nameOf(view?.nodes, nodeId)}`]),
  ].join(' ');
}

function nameOf(things: ReadonlyMap<string, { readonly name: string }> | undefined, id: string): string {
  return things?.get(id)?.name ?? id;
}
