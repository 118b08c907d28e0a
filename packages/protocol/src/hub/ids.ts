import * as z from 'zod';

const hexId = <Brand extends string>(brand: Brand) =>
  z
    .string()
    .regex(/^[0-9a-f]{16}$/, `${brand} is 16 hexadecimal digits`)
    .brand<Brand>();

/** A hub's stable identity: made once for its state directory. */
export const HubId = hexId('HubId');
export type HubId = z.infer<typeof HubId>;

/** A personal token, without its secret. */
export const TokenId = hexId('TokenId');
export type TokenId = z.infer<typeof TokenId>;

/** An invitation of a node, without its secret. */
export const InviteId = hexId('InviteId');
export type InviteId = z.infer<typeof InviteId>;

/** A person at the hub: 1-32 of a-z, 0-9, dot, dash, underscore; starts with a letter. */
export const UserName = z
  .string()
  .regex(/^[a-z][a-z0-9._-]{0,31}$/, 'a user name is 1-32 of a-z 0-9 . _ -')
  .brand<'UserName'>();
export type UserName = z.infer<typeof UserName>;

/** What people call a node: 1-64 of a-z, 0-9, dot, dash, underscore; unique at a hub. */
export const NodeName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'a node name is 1-64 of a-z 0-9 . _ -')
  .brand<'NodeName'>();
export type NodeName = z.infer<typeof NodeName>;

/** A node by name or id. */
export const NodeSelector = z.string().min(1).max(64);
