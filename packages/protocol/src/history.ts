/**
 * Sessions as their providers keep them, whether Roost started them or not. Nothing here names a file of a provider or its own
 * session id: an entry is known by an id that Roost derives from both.
 */
import * as z from 'zod';
import { AGENT_NAME_BYTES_MAX, TokenUsage } from './agent-event.ts';
import { boundedText } from './bounded-text.ts';
import { HISTORY_TEXT_BYTES_MAX, HISTORY_TITLE_BYTES_MAX, HISTORY_TOOLS_MAX } from './bounds.ts';
import { ProviderId } from './gates.ts';
import { HistoryId, RecordId, WorkspaceId } from './ids.ts';
import { lazySchema } from './lazy-schema.ts';
import { RepositoryPath } from './repository-path.ts';

/**
 * Which sessions. workspace: those whose directory lies in it and in no deeper one. unregistered: those of no workspace. all: both.
 */
export const HistoryScope = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('workspace'), workspaceId: WorkspaceId }),
  z.strictObject({ kind: z.literal('unregistered') }),
  z.strictObject({ kind: z.literal('all') }),
]);
export type HistoryScope = z.infer<typeof HistoryScope>;

/** recent: changed at the cutoff or later. older: before it. */
export const HistoryWindow = z.enum(['recent', 'older', 'all']);
export type HistoryWindow = z.infer<typeof HistoryWindow>;

/** Where a page ended, in exactly the list that it was a page of. */
export const HistoryCursor = z
  .string()
  .regex(/^[0-9a-f]{16}-(recent|older|all)-[0-9a-f]{16}$/, 'a cursor of an earlier page')
  .brand<'HistoryCursor'>();
export type HistoryCursor = z.infer<typeof HistoryCursor>;

/** Where a page of a conversation ended: the number of the next message, and of which state of the session. */
export const HistoryReadCursor = z
  .string()
  .regex(/^\d{1,9}-[0-9a-f]{16}$/, 'a cursor of an earlier page')
  .brand<'HistoryReadCursor'>();
export type HistoryReadCursor = z.infer<typeof HistoryReadCursor>;

export const HistoryEntry = lazySchema(() =>
  z.object({
    id: HistoryId,
    provider: ProviderId,
    /** As the provider titles it, else the beginning of the first prompt; null when neither was found. */
    title: boundedText(HISTORY_TITLE_BYTES_MAX).nullable(),
    model: boundedText(AGENT_NAME_BYTES_MAX).nullable(),
    startedAt: z.iso.datetime().nullable(),
    modifiedAt: z.iso.datetime(),
    /** The registered workspace that its directory lies in; null: none. */
    workspaceId: WorkspaceId.nullable(),
    /** Where in the workspace it ran; null: at its root, or in none. */
    place: RepositoryPath.nullable(),
    /** Of one outside of all workspaces: those with the same id ran in the same directory. */
    group: z
      .object({
        /** global: it is not known where it ran. */
        kind: z.enum(['project', 'global']),
        id: z.string().regex(/^external-[0-9a-f]{8}$/),
        /** Last part of the directory's path. */
        name: boundedText(256),
      })
      .nullable(),
    /** The record that this session belongs to already. */
    recordId: RecordId.nullable(),
  }),
);
export type HistoryEntry = z.infer<typeof HistoryEntry>;

/** What was passed over, by why. */
export const HistorySkipped = z.object({
  /** Links, pipes, devices: nothing is reached through them. */
  links: z.int().nonnegative(),
  tooLarge: z.int().nonnegative(),
  /** No permission, or it changed while it was read. */
  unreadable: z.int().nonnegative(),
  /** No text, or no session that this version of Roost can read. */
  unknownFormat: z.int().nonnegative(),
});
export type HistorySkipped = z.infer<typeof HistorySkipped>;

export const HistoryMessage = z.object({
  role: z.enum(['user', 'assistant']),
  /** Cut at its bound; an ellipsis stands where. */
  text: boundedText(HISTORY_TEXT_BYTES_MAX),
  /** Tools that the agent called with it, by name. */
  tools: z.array(boundedText(AGENT_NAME_BYTES_MAX)).max(HISTORY_TOOLS_MAX),
  at: z.iso.datetime().nullable(),
});
export type HistoryMessage = z.infer<typeof HistoryMessage>;

/** Of the whole conversation. */
export const HistoryUsage = TokenUsage.pick({
  inputTokens: true,
  cacheReadTokens: true,
  cacheWriteTokens: true,
  outputTokens: true,
  reasoningTokens: true,
  costUsd: true,
});
export type HistoryUsage = z.infer<typeof HistoryUsage>;
