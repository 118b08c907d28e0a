import * as z from 'zod';
import {
  HISTORY_PAGE_DEFAULT,
  HISTORY_PAGE_MAX,
  HISTORY_PREVIEW_DEFAULT,
  HISTORY_PREVIEW_MAX,
  HISTORY_READ_MAX,
} from '../bounds.ts';
import { gated, ProviderId } from '../gates.ts';
import {
  HistoryCursor,
  HistoryEntry,
  HistoryMessage,
  HistoryReadCursor,
  HistoryScope,
  HistorySkipped,
  HistoryUsage,
  HistoryWindow,
} from '../history.ts';
import { HistoryId, SessionName } from '../ids.ts';
import { operation } from '../operation.ts';
import { SessionRecord } from '../session-record.ts';

/** What any question about one session can end with. */
const SESSION_FAILURES = ['backend-busy', 'unknown-history-session', 'history-unreadable'] as const;

export const historyList = operation({
  name: 'history.list',
  summary:
    'Lists the sessions that providers keep on this machine, newest first, whether Roost started them or not.',
  access: 'operator',
  capability: 'native-session-catalog-v2',
  params: () =>
    z.strictObject({
      /** Only those of this one. */
      provider: ProviderId.optional(),
      scope: HistoryScope.default({ kind: 'all' }),
      window: HistoryWindow.default('all'),
      limit: z.int().positive().max(HISTORY_PAGE_MAX).default(HISTORY_PAGE_DEFAULT),
      /** Goes on with the list that the cursor is of, as it was then, or is refused as stale. */
      cursor: gated('native-session-catalog-paging-v2', HistoryCursor.optional()),
    }),
  result: () =>
    z.object({
      entries: z.array(HistoryEntry),
      /** Of this list. It is another one when a session came, went or changed, and when the workspaces are others. */
      revision: z.string().regex(/^[0-9a-f]{16}$/),
      /** What is recent begins here; fixed with the revision. */
      cutoff: z.iso.datetime(),
      recent: z.int().nonnegative(),
      older: z.int().nonnegative(),
      /** In the window, after this page. */
      remaining: z.int().nonnegative(),
      nextCursor: gated('native-session-catalog-paging-v2', HistoryCursor.nullable()),
      skipped: HistorySkipped,
      /** Some were not looked at: there are more than the bound, or a disk did not answer in time. */
      incomplete: z.boolean(),
    }),
  failures: [
    'backend-busy',
    'unknown-provider',
    'history-unsupported',
    'unknown-workspace',
    'stale-history-cursor',
  ],
});

export const historyResolve = operation({
  name: 'history.resolve',
  summary: 'Finds one of the sessions that providers keep, by its id or a unique beginning of it.',
  access: 'operator',
  capability: 'native-session-preview-v2',
  params: () => z.strictObject({ selector: z.string().regex(/^[0-9a-f]{4,16}$/, '4-16 hexadecimal digits') }),
  result: () => HistoryEntry,
  failures: [...SESSION_FAILURES, 'ambiguous-history-session'],
});

export const historyPreview = operation({
  name: 'history.preview',
  summary: 'Shows the newest messages of a session that a provider keeps, oldest of them first.',
  access: 'operator',
  capability: 'native-session-preview-v2',
  params: () =>
    z.strictObject({
      historyId: HistoryId,
      limit: z.int().positive().max(HISTORY_PREVIEW_MAX).default(HISTORY_PREVIEW_DEFAULT),
    }),
  result: () =>
    z.object({
      entry: HistoryEntry,
      messages: z.array(HistoryMessage),
      /** There are earlier ones, as far as was looked. */
      hasEarlier: z.boolean(),
    }),
  failures: [...SESSION_FAILURES],
});

export const historyRead = operation({
  name: 'history.read',
  summary: 'Reads the messages of a session that a provider keeps in pages, oldest first, with what it used.',
  access: 'operator',
  capability: 'native-session-read-v1',
  params: () =>
    z.strictObject({
      historyId: HistoryId,
      limit: z.int().positive().max(HISTORY_READ_MAX).default(HISTORY_READ_MAX),
      /** Refused as stale when the session was written anew since; what was only added to it is gone on with. */
      cursor: HistoryReadCursor.optional(),
    }),
  result: () =>
    z.object({
      entry: HistoryEntry,
      messages: z.array(HistoryMessage),
      /** Number of the first of them, from 0, and of all. */
      first: z.int().nonnegative(),
      total: z.int().nonnegative(),
      nextCursor: HistoryReadCursor.nullable(),
      /** null: the provider notes none. */
      usage: HistoryUsage.nullable(),
      /** Lines that were passed over: damaged, too long, or half-written. */
      skippedLines: z.int().nonnegative(),
    }),
  failures: [...SESSION_FAILURES, 'history-too-large', 'stale-history-cursor'],
});

export const historyAdopt = operation({
  name: 'history.adopt',
  summary:
    'Makes a dormant, resumable record of a session that a provider keeps; answers the record that has it already.',
  access: 'controller',
  capability: 'native-session-index-v2',
  params: () => z.strictObject({ historyId: HistoryId, name: SessionName.optional() }),
  result: () => SessionRecord,
  failures: [
    ...SESSION_FAILURES,
    'workspace-registration-required',
    'invalid-directory',
    'session-record-not-resumable',
    'session-record-conflict',
    'records-exhausted',
  ],
});
