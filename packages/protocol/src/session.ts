/** One run of an agent, as clients see it. */
import * as z from 'zod';
import { Activity } from './activity.ts';
import { noted, ProviderId } from './gates.ts';
import { GitObjectId } from './git.ts';
import { KeeperId, RecordId, SessionId, SessionName, WorkspaceId, type SessionAddress } from './ids.ts';
import { TerminalSize } from './terminal-size.ts';

/** `pty`: a terminal. `pipe`: structured standard input and output. */
export const Transport = z.enum(['pty', 'pipe']);
export type Transport = z.infer<typeof Transport>;

/** Languages that agents speak on standard input and output. */
export const AgentProtocolId = z.enum(['claude-stream-json', 'codex-app-server', 'acp']);
export type AgentProtocolId = z.infer<typeof AgentProtocolId>;

/**
 * starting: asked of a keeper, not confirmed. running. stopping: a stop is under way. exited: ended, with code or
 * signal. failed: never ran. lost: its keeper died, how it ended is unknown.
 */
export const SessionStatus = z.enum(['starting', 'running', 'stopping', 'exited', 'failed', 'lost']);
export type SessionStatus = z.infer<typeof SessionStatus>;
export const LIVE_STATUSES: readonly SessionStatus[] = ['starting', 'running', 'stopping'];

/** Why a session that is no longer live ended, where more than an exit status is known. */
export const EndReason = z.enum(['keeper-died', 'never-started', 'spawn-failed', 'stopped']);
export type EndReason = z.infer<typeof EndReason>;

export const SessionUsage = z.object({
  processes: z.int().nonnegative(),
  /** Percent of one core since the last look (or since its start, at the first). */
  cpuPercent: z.number().nonnegative(),
  residentBytes: z.int().nonnegative(),
});
export type SessionUsage = z.infer<typeof SessionUsage>;

export const Session = z.object({
  id: SessionId,
  /** null for a session that is no durable identity: a plain launch of something whose own session is not known. */
  recordId: RecordId.nullable(),
  /** Which run of its record it is; part of its address. */
  generation: z.int().positive(),
  name: SessionName,
  provider: ProviderId,
  transport: Transport,
  status: SessionStatus,
  workspaceId: WorkspaceId,
  directory: z.string(),
  /** Where HEAD of the directory's repository was when this run was started; null when that is not known, or there is none. */
  baseCommit: noted('git-read-v1', GitObjectId.nullable().optional()),
  command: z.array(z.string()),
  /** How the agent is spoken with over its pipes: it takes prompts, and has a timeline. null: bytes only. */
  protocol: noted('agent-conversation-v1', AgentProtocolId.nullable().optional()),
  keeperId: KeeperId.nullable(),
  pid: z.int().nullable(),
  size: TerminalSize.nullable(),
  title: z.string().nullable(),
  /** What its agent is doing; null when it has ended, or when nothing is known about what runs there. */
  activity: noted('session-activity-v1', Activity.nullable().optional()),
  createdAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
  /** Exit code; null while live, when ended by a signal, or when unknown. */
  exitCode: z.int().nullable(),
  /** Signal name, such as SIGKILL. */
  exitSignal: z.string().nullable(),
  endReason: EndReason.nullable(),
  attachedClients: z.int().nonnegative(),
  /** Present when asked for and live. */
  usage: SessionUsage.nullable(),
});
export type Session = z.infer<typeof Session>;

export function addressOf(session: Pick<Session, 'workspaceId' | 'id' | 'generation'>): SessionAddress {
  return { workspaceId: session.workspaceId, sessionId: session.id, generation: session.generation };
}
