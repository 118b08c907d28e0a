import * as z from 'zod';
import {
  IDEMPOTENCY_KEY_BYTES_MAX,
  NAME_LENGTH_MAX,
  PATH_BYTES_MAX,
  PROFILE_ID_BYTES_MAX,
  REVISION_BYTES_MAX,
} from './bounds.ts';

const hexId = <Brand extends string>(brand: Brand) =>
  z
    .string()
    .regex(/^[0-9a-f]{16}$/, `${brand} is 16 hexadecimal digits`)
    .brand<Brand>();

/** One run of an agent: 16 hexadecimal digits, random. */
export const SessionId = hexId('SessionId');
export type SessionId = z.infer<typeof SessionId>;

/** The durable identity behind sessions: 16 hexadecimal digits, random. */
export const RecordId = hexId('RecordId');
export type RecordId = z.infer<typeof RecordId>;

/** A session as its provider keeps it: 16 hexadecimal digits, derived from the provider's own id, which they do not tell. */
export const HistoryId = hexId('HistoryId');
export type HistoryId = z.infer<typeof HistoryId>;

/** A node's stable identity: made once for a state directory. */
export const NodeId = hexId('NodeId');
export type NodeId = z.infer<typeof NodeId>;

/** One start of a node: fresh every time. */
export const Incarnation = hexId('Incarnation');
export type Incarnation = z.infer<typeof Incarnation>;

/** One keeper process. */
export const KeeperId = hexId('KeeperId');
export type KeeperId = z.infer<typeof KeeperId>;

/** A registered directory: 1-64 of a-z, 0-9, dot, dash, underscore; starts with a letter or digit. */
export const WorkspaceId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'a workspace id is 1-64 of a-z 0-9 . _ -')
  .brand<'WorkspaceId'>();
export type WorkspaceId = z.infer<typeof WorkspaceId>;

/** What people call a session: 1-64 of letters, digits, dot, dash, underscore; starts with a letter or digit. */
export const SessionName = z
  .string()
  .max(NAME_LENGTH_MAX)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'a name is 1-64 of letters, digits, . _ -')
  .brand<'SessionName'>();
export type SessionName = z.infer<typeof SessionName>;

/** An absolute path on the node's machine, without control characters, at most 4,096 bytes. */
export const AbsolutePath = z
  .string()
  .refine((path) => path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path), 'the path must be absolute')
  // One of them is a line break in every list, log and prompt that names the path.
  .refine((path) => !/\p{Cc}/u.test(path), 'the path must not contain control characters')
  .refine((path) => new TextEncoder().encode(path).length <= PATH_BYTES_MAX, 'the path is too long');
export type AbsolutePath = z.infer<typeof AbsolutePath>;

/**
 * Where a session is, exactly: its workspace, the session, and which run of its record it is (1, and one more with each
 * resume). An address of an earlier run is refused as stale.
 */
export const SessionAddress = z.strictObject({
  workspaceId: WorkspaceId,
  sessionId: SessionId,
  generation: z.int().positive(),
});
export type SessionAddress = z.infer<typeof SessionAddress>;

/** Printable ASCII without blanks and slashes. */
const printableId = (bytesMax: number) =>
  z
    .string()
    .max(bytesMax)
    .regex(/^[\x21-\x2e\x30-\x5b\x5d-\x7e]+$/, 'printable ASCII without blanks and slashes');

/** Names one launch, so that asking twice starts once: 1-128 of printable ASCII without blanks and slashes. */
export const IdempotencyKey = printableId(IDEMPOTENCY_KEY_BYTES_MAX).brand<'IdempotencyKey'>();
export type IdempotencyKey = z.infer<typeof IdempotencyKey>;

/** A spawn profile: 1-64 of printable ASCII without blanks and slashes. */
export const ProfileId = printableId(PROFILE_ID_BYTES_MAX).brand<'ProfileId'>();
export type ProfileId = z.infer<typeof ProfileId>;

/** A revision of a profile or bundle: 1-128 of printable ASCII without blanks and slashes. */
export const Revision = printableId(REVISION_BYTES_MAX).brand<'Revision'>();
export type Revision = z.infer<typeof Revision>;

/** A bundle, a context pack, an environment profile: 1-128 of printable ASCII without blanks and slashes. */
export const ResourceId = printableId(REVISION_BYTES_MAX).brand<'ResourceId'>();
export type ResourceId = z.infer<typeof ResourceId>;

/** A managed worktree: `wt-` and 16 hexadecimal digits, random. Its workspace has the same id. */
export const LeaseId = z
  .string()
  .regex(/^wt-[0-9a-f]{16}$/, 'a lease id is wt- and 16 hexadecimal digits')
  .brand<'LeaseId'>();
export type LeaseId = z.infer<typeof LeaseId>;

/** Something that records work on: `task-` and 24 hexadecimal digits. */
export const TaskId = z
  .string()
  .regex(/^task-[0-9a-f]{24}$/, 'a task id is task- and 24 hexadecimal digits')
  .brand<'TaskId'>();
export type TaskId = z.infer<typeof TaskId>;

/** Something that an agent asks: 24 hexadecimal digits, the same whenever the same request is read again. */
export const InteractionId = z
  .string()
  .regex(/^[0-9a-f]{24}$/, 'an interaction id is 24 hexadecimal digits')
  .brand<'InteractionId'>();
export type InteractionId = z.infer<typeof InteractionId>;

/** One authenticated connection of one start of the node; counts from 1. */
export const ConnectionId = z.int().positive().brand<'ConnectionId'>();
export type ConnectionId = z.infer<typeof ConnectionId>;
