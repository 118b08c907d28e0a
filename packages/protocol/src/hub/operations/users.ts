// Who may use a hub.
import * as z from 'zod';
import { HubRole, HubScope } from '../access.ts';
import { hubOperation } from '../hub-operation.ts';
import { UserName } from '../ids.ts';

export const HubUser = z.object({
  name: UserName,
  role: HubRole,
  /** null: every node. */
  scope: HubScope.nullable(),
  disabled: z.boolean(),
  createdAt: z.iso.datetime(),
});
export type HubUser = z.infer<typeof HubUser>;

export const userOperations = [
  hubOperation({
    name: 'users.list',
    summary: 'Lists the users.',
    role: 'admin',
    route: { method: 'GET', path: '/users' },
    params: () => z.strictObject({}),
    result: () => z.object({ users: z.array(HubUser) }),
    failures: [],
  }),
  hubOperation({
    name: 'users.create',
    summary: 'Makes a user, who logs in with a link or a token.',
    role: 'admin',
    route: { method: 'POST', path: '/users' },
    params: () => z.strictObject({ name: UserName, role: HubRole, scope: HubScope.nullable().default(null) }),
    result: () => HubUser,
    failures: ['name-taken'],
  }),
  hubOperation({
    name: 'users.change',
    summary:
      'Changes role, scope, or whether a user may log in; what is left out stays. Takes effect at once.',
    role: 'admin',
    route: { method: 'PATCH', path: '/users/{name}' },
    params: () =>
      z.strictObject({
        name: UserName,
        role: HubRole.optional(),
        scope: HubScope.nullable().optional(),
        disabled: z.boolean().optional(),
      }),
    result: () => HubUser,
    failures: ['unknown-user', 'last-admin'],
  }),
  hubOperation({
    name: 'users.remove',
    summary: 'Removes a user with their tokens and browser sessions.',
    role: 'admin',
    route: { method: 'DELETE', path: '/users/{name}' },
    params: () => z.strictObject({ name: UserName }),
    result: () => z.object({}),
    failures: ['unknown-user', 'last-admin'],
  }),
] as const;
