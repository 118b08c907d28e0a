// What a session's row says when the session comes to be: asked for by a client, or found at a keeper. The command is kept as it
// is shown, cut to size; the arguments in full go to the child only.
import type {
  AgentProtocolId,
  KeeperId,
  RecordId,
  SessionId,
  SessionName,
  TerminalSize,
  Transport,
  WorkspaceId,
} from '@roost/protocol';
import { shownCommand } from './session-note.ts';
import type { SessionRow } from './session-table.ts';

export interface NewSession {
  readonly id: SessionId;
  readonly recordId: RecordId | null;
  /** Which run of its record it is; 1 without one. */
  readonly generation: number;
  readonly name: SessionName;
  readonly provider: string;
  readonly transport: Transport;
  readonly workspaceId: WorkspaceId;
  readonly directory: string;
  readonly command: readonly string[];
  /** How it is spoken with; null: it is not. */
  readonly protocol?: AgentProtocolId | null;
  readonly keeperId: KeeperId;
  readonly size: TerminalSize | null;
  readonly createdAt: number;
  /** null: it is yet to be started. */
  readonly process: { readonly pid: number; readonly start: string } | null;
}

export function newSessionRow(session: NewSession): SessionRow {
  const { process, size } = session;
  return {
    id: session.id,
    record_id: session.recordId,
    generation: session.generation,
    name: session.name,
    provider: session.provider,
    transport: session.transport,
    status: process === null ? 'starting' : 'running',
    workspace_id: session.workspaceId,
    directory: session.directory,
    command: JSON.stringify(shownCommand(session.command)),
    protocol: session.protocol ?? null,
    environment_profile: null,
    base_commit: null,
    keeper_id: session.keeperId,
    pid: process?.pid ?? null,
    process_start: process?.start ?? null,
    columns: size?.columns ?? null,
    rows: size?.rows ?? null,
    title: null,
    created_at: session.createdAt,
    ended_at: null,
    exit_code: null,
    exit_signal: null,
    end_reason: null,
    stop_requested: 0,
    activity: null,
  };
}
