/** What a hub does itself, beside what it passes on to nodes: one table of all of it. */
import type * as z from 'zod';
import type { FailureCode } from '../../failures.ts';
import { auditOperations } from './audit.ts';
import { hubOperations } from './hub.ts';
import { inviteOperations } from './invites.ts';
import { listOperations } from './lists.ts';
import { loginOperations } from './logins.ts';
import { nodeOperations } from './nodes.ts';
import { tokenOperations } from './tokens.ts';
import { userOperations } from './users.ts';

export { AuditEntry } from './audit.ts';
export { Whoami } from './hub.ts';
export { HubInvite, INVITE_MS_DEFAULT, INVITE_MS_MAX, INVITE_MS_MIN } from './invites.ts';
export { LOGIN_LINK_MS } from './logins.ts';
export { HubToken, TOKEN_DAYS_DEFAULT, TOKEN_DAYS_MAX } from './tokens.ts';
export { HubUser } from './users.ts';

const declared = [
  ...hubOperations,
  ...nodeOperations,
  ...listOperations,
  ...inviteOperations,
  ...userOperations,
  ...tokenOperations,
  ...loginOperations,
  ...auditOperations,
] as const;

type Declared = (typeof declared)[number];
export type HubOperationName = Declared['name'];
export type HubOperationOf<Name extends HubOperationName> = Extract<Declared, { name: Name }>;
export type HubParamsInput<Name extends HubOperationName> = z.input<HubOperationOf<Name>['params']>;
export type HubParams<Name extends HubOperationName> = z.output<HubOperationOf<Name>['params']>;
export type HubResult<Name extends HubOperationName> = z.output<HubOperationOf<Name>['result']>;

export const HUB_OPERATIONS = Object.fromEntries(declared.map((one) => [one.name, one])) as unknown as {
  readonly [Name in HubOperationName]: HubOperationOf<Name>;
};

/** Failures that every operation through HTTP can answer. */
export const HUB_COMMON_FAILURES = [
  'invalid-request',
  'unauthenticated',
  'forbidden',
  'out-of-scope',
  'origin-refused',
  'rate-limited',
  'shutting-down',
  'storage-full',
  'storage-failed',
  'internal-error',
] as const satisfies readonly FailureCode[];

/** Failures that passing an operation on to a node adds. */
export const HUB_ROUTING_FAILURES = [
  'unknown-node',
  'node-offline',
  'stale-incarnation',
  'outcome-unknown',
] as const satisfies readonly FailureCode[];
