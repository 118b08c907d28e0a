import * as z from 'zod';
import { boundedText } from '../bounded-text.ts';
import { INITIAL_PROMPT_BYTES_MAX, RECORDS_MAX } from '../bounds.ts';
import { ProviderId } from '../gates.ts';
import { RecordId, SessionAddress, SessionName, TaskId, WorkspaceId } from '../ids.ts';
import { operation, recordLock } from '../operation.ts';
import { ProviderSession, SessionRecord } from '../session-record.ts';
import { Session } from '../session.ts';
import { TerminalSize } from '../terminal-size.ts';

export const recordList = operation({
  name: 'record.list',
  summary: 'Lists the records, oldest first; when that was cut, the rest comes after the last one.',
  access: 'observer',
  capability: null,
  params: () =>
    z.strictObject({
      limit: z.int().positive().max(RECORDS_MAX).default(RECORDS_MAX),
      /** Only those that came to be after this one. */
      after: RecordId.optional(),
    }),
  /** `truncated`: at the limit, or because more would not fit into one frame. */
  result: () => z.object({ records: z.array(SessionRecord), truncated: z.boolean() }),
  failures: ['unknown-session-record'],
});

export const recordResolve = operation({
  name: 'record.resolve',
  summary: 'Finds one record by name, full id, or unique id prefix; the newest of a name, live ones first.',
  access: 'observer',
  capability: null,
  params: () => z.strictObject({ selector: z.string().min(1).max(64) }),
  result: () => SessionRecord,
  failures: ['unknown-session-record', 'ambiguous-session'],
});

export const recordRename = operation({
  name: 'record.rename',
  summary: 'Renames a record and its live session.',
  access: 'controller',
  capability: null,
  params: () => z.strictObject({ recordId: RecordId, name: SessionName }),
  result: () => SessionRecord,
  failures: ['unknown-session-record', 'name-taken'],
  locks: (params) => [recordLock(params.recordId)],
});

export const recordSetTask = operation({
  name: 'record.setTask',
  summary: 'Binds a record to a task, or clears that, when its binding is still at the expected revision.',
  access: 'controller',
  capability: 'session-task-correlation-v1',
  params: () =>
    z.strictObject({
      recordId: RecordId,
      /** 0: never bound. */
      expectedRevision: z.int().nonnegative(),
      /** new: a fresh id. existing: this id, which may be shared. clear: no task. */
      target: z.discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('new') }),
        z.strictObject({ kind: z.literal('existing'), taskId: TaskId }),
        z.strictObject({ kind: z.literal('clear') }),
      ]),
    }),
  result: () => SessionRecord,
  failures: ['unknown-session-record', 'session-record-conflict'],
  locks: (params) => [recordLock(params.recordId)],
});

export const recordIndex = operation({
  name: 'record.index',
  summary:
    'Makes a dormant, resumable record of a session that exists at its provider; answers the record that has it already.',
  access: 'controller',
  capability: 'provider-session-reference-index-v1',
  params: () =>
    z.strictObject({
      workspaceId: WorkspaceId,
      provider: ProviderId,
      /** Without a transcript path: nobody outside may name one. */
      providerSession: ProviderSession,
      name: SessionName,
    }),
  result: () => SessionRecord,
  failures: ['unknown-workspace', 'unknown-provider', 'session-record-conflict', 'records-exhausted'],
});

export const recordResume = operation({
  name: 'record.resume',
  summary: "Runs a record's session on at its provider; answers when the process runs.",
  access: 'controller',
  capability: null,
  params: () =>
    z.strictObject({
      recordId: RecordId,
      size: TerminalSize.default({ columns: 80, rows: 24 }),
      prompt: boundedText(INITIAL_PROMPT_BYTES_MAX).optional(),
    }),
  result: () => z.object({ record: SessionRecord, session: Session }),
  failures: [
    'unknown-session-record',
    'session-record-busy',
    'session-record-not-resumable',
    'session-record-conflict',
    'unknown-workspace',
    'workspace-busy',
    'worktree-changing',
    'worktree-managed',
    'worktree-recovery-required',
    'unknown-provider',
    'prompt-unsupported',
    'provider-not-installed',
    'invalid-directory',
    'sessions-exhausted',
    'spawn-failed',
    'spawn-deadline-exceeded',
    'keeper-unavailable',
  ],
});

export const recordForget = operation({
  name: 'record.forget',
  summary: 'Forgets a record with its ended sessions; what the provider keeps stays.',
  access: 'controller',
  capability: null,
  params: () => z.strictObject({ recordId: RecordId }),
  result: () => z.object({ recordId: RecordId }),
  failures: ['unknown-session-record', 'session-record-busy'],
  locks: (params) => [recordLock(params.recordId)],
});

export const sessionReportIdentity = operation({
  name: 'session.reportIdentity',
  summary:
    "Tells which of its provider's own sessions a live session is; a record that has it already takes it over.",
  access: 'controller',
  capability: null,
  params: () => SessionAddress.extend({ providerSession: ProviderSession }),
  /** The record that the session belongs to from now on. */
  result: () => SessionRecord,
  failures: [
    'unknown-session',
    'session-workspace-mismatch',
    'stale-generation',
    'session-not-running',
    'unknown-session-record',
  ],
});
