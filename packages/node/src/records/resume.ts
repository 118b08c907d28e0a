// Running a record's session on. Everything that is asked before the launch is asked again, of the same values, in the transaction
// that stores it: of two that ask at once, one wins and the other is told where it runs.
import {
  FailureError,
  RESUME_TIMEOUT_MS,
  type Session,
  type SessionRecord,
  type TerminalSize,
} from '@roost/protocol';
import { findProvider, runtimeCapabilities } from '@roost/providers';
import { Deadline } from '../deadline.ts';
import { worktreeEnvironment } from '../managed-worktrees/lease-environment.ts';
import { planSession, type Launch, type LaunchSource } from '../sessions/launch.ts';
import { checkEnvironment } from '../spawn/environment-guard.ts';
import { startSession, type StartScene } from '../spawn/start-session.ts';
import type { Sql } from '@roost/storage';
import { locate, type Location } from '../workspaces/locate.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { isBusy } from './record-policy.ts';
import { argumentsOf, findRecord, recordView, type RecordRow } from './record-table.ts';
import { busyRecord } from './remove-record.ts';

export interface ResumeScene extends StartScene {
  readonly source: LaunchSource;
  /** Milliseconds until its process runs. */
  readonly timeoutMs?: number;
}

interface ResumeRequest {
  readonly record: RecordRow;
  readonly size: TerminalSize;
  readonly prompt: string | null;
}

/**
 * @throws FailureError: session-record-busy with the address of the run that lives, session-record-not-resumable,
 * session-record-conflict, unknown-workspace, workspace-busy, prompt-unsupported, invalid-directory; those of a launch.
 */
export async function resumeRecord(
  scene: ResumeScene,
  { record, size, prompt }: ResumeRequest,
): Promise<{ record: SessionRecord; session: Session }> {
  const { sql } = scene.store;
  await scene.source.providers.settle(record.provider);
  checkResumable(sql, record, prompt);
  const location = await locateRun(record);
  const session = await startSession(scene, {
    launch: planResume(scene, record, location, prompt),
    transport: record.transport,
    size,
    location,
    workspaceId: record.workspace_id,
    name: null,
    record: {
      kind: 'existing',
      claim: (transaction) => {
        const now = findRecord(transaction.sql, record.id);
        if (now === null) throw new FailureError('unknown-session-record', { recordId: record.id });
        checkResumable(transaction.sql, now, prompt);
        if (CLAIMED.some((column) => now[column] !== record[column])) {
          throw new FailureError('session-record-conflict', { recordId: record.id });
        }
        return now;
      },
    },
    environmentProfile: recordView(record).environmentProfile,
    deadline: Deadline.in(scene.timeoutMs ?? RESUME_TIMEOUT_MS),
    afterFailure: 'forget',
    prompt,
  });
  // It may have been folded or forgotten since; the session is the answer then too.
  const resumed = findRecord(sql, record.id) ?? record;
  return { record: recordView(resumed), session };
}

/** What the launch was planned from. */
const CLAIMED = [
  'provider',
  'transport',
  'workspace_id',
  'workspace_root',
  'directory',
  'arguments',
  'provider_session_key',
  'provider_session_id',
  'environment_profile',
  'bundle',
  'context',
] as const satisfies readonly (keyof RecordRow)[];

function checkResumable(sql: Sql, record: RecordRow, prompt: string | null): void {
  const { id: recordId, provider, transport, workspace_id: workspaceId } = record;
  if (isBusy(record)) throw busyRecord(record);
  const capabilities = runtimeCapabilities(findProvider(provider), transport);
  if (record.provider_session_id === null || !capabilities.includes('semantic-resume')) {
    throw new FailureError('session-record-not-resumable', { recordId });
  }
  // What it ran with is no longer there to be given again.
  if (record.bundle !== null || record.context !== null) {
    throw new FailureError('session-record-not-resumable', { recordId });
  }
  if (prompt !== null && !capabilities.includes('structured-prompt')) {
    throw new FailureError('prompt-unsupported', { provider, transport });
  }
  const workspace = findWorkspace(sql, workspaceId);
  if (workspace === null) throw new FailureError('unknown-workspace', { workspaceId });
  if (workspace.root !== record.workspace_root) {
    throw new FailureError('session-record-conflict', { recordId, workspaceId });
  }
  checkEnvironment(sql, workspaceId, recordView(record).environmentProfile);
}

async function locateRun({ id: recordId, directory }: RecordRow): Promise<Location> {
  const location = await locate(directory);
  if (location === null) throw new FailureError('invalid-directory', { directory });
  // A link in its way leads elsewhere now.
  if (location.directory !== directory) throw new FailureError('session-record-conflict', { recordId });
  return location;
}

function planResume(
  { source, store }: ResumeScene,
  record: RecordRow,
  location: Location,
  prompt: string | null,
): Launch {
  const { provider, transport, provider_session_id: own } = record;
  if (own === null) throw new FailureError('session-record-not-resumable', { recordId: record.id });
  return planSession(
    {
      launch: { kind: 'provider', provider, arguments: argumentsOf(record) },
      transport,
      environment: {},
      worktree: worktreeEnvironment(store.sql, record.workspace_id),
      session: { kind: 'resume', id: own },
      prompt,
    },
    location.directory,
    source,
  );
}
