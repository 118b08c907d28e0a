// The hub itself, and who asks.
import * as z from 'zod';
import { HubRole, HubScope } from '../access.ts';
import { hubOperation } from '../hub-operation.ts';
import { HubId, UserName } from '../ids.ts';

/** Who asks, as the hub knows it. */
export const Whoami = z.object({
  kind: z.enum(['local', 'user']),
  user: UserName.nullable(),
  role: HubRole,
  scope: HubScope.nullable(),
  /** When the token or browser session ends; null: not at all. */
  expiresAt: z.iso.datetime().nullable(),
});
export type Whoami = z.infer<typeof Whoami>;

export const hubOperations = [
  hubOperation({
    name: 'hub.status',
    summary: 'Tells what this hub is and how its nodes are.',
    role: 'observer',
    route: { method: 'GET', path: '/hub' },
    params: () => z.strictObject({}),
    result: () =>
      z.object({
        hubId: HubId,
        /** This start of the hub. */
        run: z.string(),
        version: z.string(),
        pid: z.int(),
        startedAt: z.iso.datetime(),
        /** Where nodes and browsers find it. */
        url: z.string(),
        nodes: z.object({ enrolled: z.int().nonnegative(), online: z.int().nonnegative() }),
        sessions: z.object({ live: z.int().nonnegative(), blocked: z.int().nonnegative() }),
        clients: z.int().nonnegative(),
        residentBytes: z.int().nonnegative(),
      }),
    failures: [],
  }),
  hubOperation({
    name: 'hub.shutdown',
    summary: 'Stops the hub. Nodes and their sessions go on.',
    role: 'admin',
    route: { method: 'POST', path: '/hub/shutdown' },
    params: () => z.strictObject({}),
    result: () => z.object({}),
    failures: [],
  }),
  hubOperation({
    name: 'me.show',
    summary: 'Tells who asks, and what they may do.',
    role: 'observer',
    route: { method: 'GET', path: '/me' },
    params: () => z.strictObject({}),
    result: () => Whoami,
    failures: [],
  }),
] as const;
