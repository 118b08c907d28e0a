// What a node tells, reduced to what a hub may hold. The schemas are allow-lists: what they do not name does not pass.
import {
  HubRecord,
  HubSession,
  HubWorkspace,
  InteractionSummary,
  type EventBody,
  type HubEventBody,
  type Session,
  type SessionRecord,
  type Workspace,
} from '@roost/protocol';
import type { NodeView } from './fleet.ts';

const VERSION_LENGTH_MAX = 64;

/** Its schema takes any text for a signal. */
const SIGNAL_NAME = /^SIG[A-Z0-9+-]{1,16}$/;

export function redactSession(session: Session): HubSession {
  const { exitSignal } = session;
  const isName = exitSignal !== null && SIGNAL_NAME.test(exitSignal);
  return HubSession.parse({ ...session, exitSignal: isName ? exitSignal : null });
}

export function redactRecord(record: SessionRecord): HubRecord {
  return HubRecord.parse({ ...record, hasProviderSession: record.providerSession !== null });
}

export function redactWorkspace(workspace: Workspace): HubWorkspace {
  return HubWorkspace.parse({ ...workspace, git: workspace.git ?? null });
}

/** As the schema of a node bounds it. */
export function redactVersion(version: string): string {
  return version.slice(0, VERSION_LENGTH_MAX);
}

/** null: nothing that is told. `before`: what was known until then; it tells where that was which is gone. */
export function redactEvent(body: EventBody, before: NodeView): HubEventBody | null {
  switch (body.kind) {
    case 'node-started':
      return { kind: body.kind, version: redactVersion(body.version) };
    case 'node-stopped':
      return { kind: body.kind };
    case 'workspace-registered':
    case 'workspace-changed':
      return { kind: 'workspace-changed', workspace: redactWorkspace(body.workspace) };
    case 'workspace-unregistered':
      return { kind: 'workspace-removed', workspaceId: body.workspaceId };
    case 'session-changed':
      return { kind: body.kind, session: redactSession(body.session) };
    case 'session-removed': {
      const { sessionId } = body;
      return { kind: body.kind, sessionId, workspaceId: before.sessions.get(sessionId)?.workspaceId ?? null };
    }
    case 'record-changed':
      return { kind: body.kind, record: redactRecord(body.record) };
    case 'record-removed': {
      const { recordId } = body;
      return { kind: body.kind, recordId, workspaceId: before.records.get(recordId)?.workspaceId ?? null };
    }
    case 'interaction-changed':
      return { kind: body.kind, interaction: InteractionSummary.parse(body.interaction) };
    case 'controller-changed':
    case 'spawn-profiles-changed':
    case 'worktree-profiles-changed':
    case 'worktree-changed':
    case 'worktree-removed':
      // Asked of the node by whoever wants to know.
      return null;
  }
}
