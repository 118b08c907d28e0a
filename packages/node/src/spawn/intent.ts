// Everything that a launch stores before its keeper is asked, in one transaction: the session, its record, and what the caller adds.
// What is checked here has no effect when it refuses.
import {
  FailureError,
  RecordId,
  SESSIONS_MAX,
  SessionId,
  type BundleReceipt,
  type ContextReceipt,
  type EnvironmentReceipt,
  type Failure,
  type GitObjectId,
  type InteractionPolicy,
  type KeeperId,
  type LeaseId,
  type SessionName,
  type TerminalSize,
  type Transport,
  type Workspace,
  type WorkspaceId,
} from '@roost/protocol';
import type { Deadline } from '../deadline.ts';
import { checkLaunchPlace } from '../managed-worktrees/reservations.ts';
import { randomHexId } from '../node-identity.ts';
import { newRecordRow } from '../records/new-record.ts';
import { insertConversation } from '../conversations/conversation-table.ts';
import { argumentsOf, insertRecord, interactionsOf, type RecordRow } from '../records/record-table.ts';
import { insertPrompt } from '../prompts/waiting-prompts.ts';
import type { Launch } from '../sessions/launch.ts';
import { makeSessionName } from '../sessions/naming.ts';
import { newSessionRow } from '../sessions/new-session-row.ts';
import { encodeNote, shownCommand, type SessionNote } from '../sessions/session-note.ts';
import {
  countSessions,
  deleteSession,
  insertSession,
  isLive,
  isNameLive,
  listSessions,
  type SessionRow,
} from '../sessions/session-table.ts';
import type { Sql } from '@roost/storage';
import type { Transaction } from '../store/store.ts';
import type { Location } from '../workspaces/locate.ts';
import { findWorkspace, workspaceAround } from '../workspaces/workspaces.ts';
import { checkEnvironment, storedEnvironment } from './environment-guard.ts';

type RecordPlan =
  | { readonly kind: 'none' }
  /** A record of its own; it goes with a launch of which nothing is left. */
  | {
      readonly kind: 'new';
      /** Given again by a resume. */
      readonly arguments: readonly string[];
      readonly bundle: BundleReceipt | null;
      readonly context: ContextReceipt | null;
    }
  /** The next run of a record: `claim` gives its row as it is when the launch is stored, or refuses. */
  | { readonly kind: 'existing'; readonly claim: (transaction: Transaction) => RecordRow };

export interface StartRequest {
  readonly launch: Launch;
  readonly transport: Transport;
  readonly size: TerminalSize;
  /** Where it works. */
  readonly location: Location;
  /** null: the workspace around the location, registered when there is none. */
  readonly workspaceId: WorkspaceId | null;
  /** null: made from the record's name, else from the program's. */
  readonly name: SessionName | null;
  readonly record: RecordPlan;
  readonly environmentProfile: EnvironmentReceipt | null;
  /** First prompt; stored until it is given, unless the launch has it in its arguments. */
  readonly prompt?: string | null;
  /** How what it asks is answered without a person; that of a record that is run on is the record's own. */
  readonly interactions?: InteractionPolicy | null;
  /** The managed worktree that it was asked for; what a record was made in is its own. */
  readonly leaseId?: LeaseId;
  readonly deadline: Deadline;
  /** keep: the session stays, as failed. forget: nothing is left. With a deadline, always forget. */
  readonly afterFailure: 'keep' | 'forget';
  /** More rows of the transaction that stores the launch. */
  readonly intended?: (transaction: Transaction, session: SessionRow) => void;
  /** More of the transaction that forgets it. */
  readonly forgotten?: (transaction: Transaction, failure: Failure, session: SessionRow) => void;
}

export interface Intent {
  readonly row: SessionRow;
  readonly note: string;
  /** Ended sessions had to make room. */
  readonly evicted: boolean;
}

/** What can be refused before a keeper is looked for. @throws FailureError */
export function checkLaunch(sql: Sql, request: StartRequest): void {
  const { launch, interactions = null } = request;
  // Rules that nobody would keep are no rules.
  if (interactions !== null && launch.conversation === null)
    throw new FailureError('session-option-unsupported', {
      provider: launch.provider,
      option: 'interactions',
    });
  const { live } = countSessions(sql);
  if (live >= SESSIONS_MAX) throw new FailureError('sessions-exhausted', { limit: SESSIONS_MAX });
  if (request.name !== null && isNameLive(sql, request.name)) {
    throw new FailureError('name-taken', { name: request.name });
  }
  checkLaunchPlace(sql, {
    directory: request.location.directory,
    workspaceId: request.workspaceId,
    leaseId: request.leaseId ?? null,
    isResume: request.record.kind === 'existing',
  });
  if (request.workspaceId !== null) checkWorkspace(sql, request.workspaceId, request.environmentProfile);
}

/** What was found out for the launch meanwhile. */
interface Prepared {
  readonly keeperId: KeeperId;
  readonly baseCommit: GitObjectId | null;
}

export function storeIntent(
  transaction: Transaction,
  request: StartRequest,
  { keeperId, baseCommit }: Prepared,
): Intent {
  const { sql } = transaction;
  checkLaunch(sql, request);
  const evicted = makeRoom(transaction);
  const workspace = workspaceOf(transaction, request);
  const claimed = request.record.kind === 'existing' ? request.record.claim(transaction) : null;
  const createdAt = Date.now();
  const { launch, location, transport } = request;
  const command = shownCommand(launch.shown);
  const row: SessionRow = {
    ...newSessionRow({
      id: SessionId.parse(randomHexId()),
      recordId: recordIdOf(request.record, claimed),
      generation: (claimed?.generation ?? 0) + 1,
      name: nameOf(sql, request, claimed),
      provider: launch.provider,
      transport,
      workspaceId: workspace.id,
      directory: location.directory,
      command,
      protocol: launch.conversation?.protocol ?? null,
      keeperId,
      size: transport === 'pty' ? request.size : null,
      createdAt,
      process: null,
    }),
    environment_profile: storedEnvironment(request.environmentProfile),
    base_commit: baseCommit,
  };
  if (request.record.kind === 'new' && row.record_id !== null) {
    insertRecord(transaction, recordOf(request, request.record, { id: row.record_id, row, workspace }));
  }
  // A record that is there already follows its session by itself.
  insertSession(transaction, row);
  const { prompt = null } = request;
  if (prompt !== null && (launch.conversation !== null || launch.typesPrompt))
    insertPrompt(sql, row.id, prompt);
  if (launch.conversation !== null) storeConversation(sql, row, request, claimed);
  else if (claimed !== null && interactionsOf(claimed) !== null)
    throw new FailureError('session-record-not-resumable', { recordId: claimed.id });
  request.intended?.(transaction, row);
  const note = encodeNote({
    version: 2,
    name: row.name,
    recordId: row.record_id,
    generation: row.generation,
    provider: row.provider,
    workspaceRoot: workspace.root,
    directory: row.directory,
    command,
    createdAt,
    resume: resumeOf(request, claimed),
  });
  return { row, note, evicted };
}

function storeConversation(
  sql: Sql,
  { id }: SessionRow,
  { launch, interactions = null }: StartRequest,
  claimed: RecordRow | null,
): void {
  if (launch.conversation === null) return;
  const { protocol, resume } = launch.conversation;
  const policy = claimed === null ? interactions : interactionsOf(claimed);
  insertConversation(sql, { session_id: id, protocol, resume, policy });
}

function checkWorkspace(
  sql: Sql,
  workspaceId: WorkspaceId,
  environmentProfile: EnvironmentReceipt | null,
): Workspace {
  const workspace = findWorkspace(sql, workspaceId);
  if (workspace === null) throw new FailureError('unknown-workspace', { workspaceId });
  checkEnvironment(sql, workspaceId, environmentProfile);
  return workspace;
}

function workspaceOf(transaction: Transaction, request: StartRequest): Workspace {
  const { workspaceId, environmentProfile, location } = request;
  if (workspaceId !== null) return checkWorkspace(transaction.sql, workspaceId, environmentProfile);
  const workspace = workspaceAround(transaction, location);
  checkEnvironment(transaction.sql, workspace.id, environmentProfile);
  return workspace;
}

/** Ended sessions give way to new ones, the oldest first; live ones never do. true when any did. */
function makeRoom(transaction: Transaction): boolean {
  const { live, ended } = countSessions(transaction.sql);
  const excess = live + ended + 1 - SESSIONS_MAX;
  if (excess <= 0) return false;
  const oldest = listSessions(transaction.sql, true, -1).filter((row) => !isLive(row));
  for (const row of oldest.slice(0, excess)) deleteSession(transaction, row);
  return true;
}

function nameOf(sql: Sql, { name, launch }: StartRequest, claimed: RecordRow | null): SessionName {
  const isTaken = (one: string) => isNameLive(sql, one);
  if (name !== null) return name;
  return makeSessionName(claimed?.name ?? launch.stem, isTaken);
}

function recordIdOf(plan: RecordPlan, claimed: RecordRow | null): RecordId | null {
  return plan.kind === 'new' ? RecordId.parse(randomHexId()) : (claimed?.id ?? null);
}

/** For the keeper's note: what a record that the database lost would need. */
function resumeOf({ record, launch }: StartRequest, claimed: RecordRow | null): SessionNote['resume'] {
  const { providerSessionId } = launch;
  if (record.kind === 'new') return { providerSessionId, arguments: [...record.arguments] };
  return claimed === null ? null : { providerSessionId, arguments: argumentsOf(claimed) };
}

function recordOf(
  { launch, environmentProfile, interactions }: StartRequest,
  plan: Extract<RecordPlan, { kind: 'new' }>,
  made: { readonly id: RecordId; readonly row: SessionRow; readonly workspace: Workspace },
): RecordRow {
  const { id, row, workspace } = made;
  const { providerSessionId } = launch;
  return newRecordRow({
    id,
    name: row.name,
    provider: row.provider,
    transport: row.transport,
    workspaceId: workspace.id,
    workspaceRoot: workspace.root,
    directory: row.directory,
    arguments: plan.arguments,
    providerSession: providerSessionId === null ? null : { key: 'session-id', id: providerSessionId },
    run: { id: row.id, generation: row.generation },
    environmentProfile,
    bundle: plan.bundle,
    context: plan.context,
    interactions: interactions ?? null,
    createdAt: row.created_at,
  });
}
