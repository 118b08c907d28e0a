import * as z from 'zod';
import { NAME_LENGTH_MAX, PATH_BYTES_MAX } from './bounds.ts';

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

/** An absolute path on the node's machine, without NUL, at most 32,768 bytes. */
export const AbsolutePath = z
  .string()
  .refine((path) => path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path), 'the path must be absolute')
  .refine((path) => !path.includes('\0'), 'the path must not contain NUL')
  .refine((path) => new TextEncoder().encode(path).length <= PATH_BYTES_MAX, 'the path is too long');
export type AbsolutePath = z.infer<typeof AbsolutePath>;
