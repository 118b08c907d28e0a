/**
 * What a hub does itself, beside what it passes on to nodes: declared once; routes, client, OpenAPI document, privilege checks and audit
 * follow from it.
 */
import * as z from 'zod';
import { boundedText } from '../bounded-text.ts';
import { ActivityState } from '../activity.ts';
import type { FailureCode } from '../failures.ts';
import { FAILURE_CODES } from '../failures.ts';
import { NodeId, RecordId, SessionId, WorkspaceId } from '../ids.ts';
import { HubRole, HubScope } from './access.ts';
import type { HttpRoute } from './http-route.ts';
import { HubId, InviteId, NodeName, NodeSelector, TokenId, UserName } from './ids.ts';
import { HubNode, PlacedRecord, PlacedSession, PlacedWorkspace, Watcher } from './views.ts';

export interface HubOperation<
  Name extends string = string,
  Params extends z.ZodType = z.ZodType,
  Result extends z.ZodType = z.ZodType,
> {
  /** Dotted camelCase: the plural of what it is about, verb last. */
  readonly name: Name;
  readonly summary: string;
  /** public: whoever reaches the hub. self: everybody, about themselves; an admin about everybody. */
  readonly role: HubRole | 'public' | 'self';
  readonly route: HttpRoute;
  readonly params: Params;
  readonly result: Result;
  readonly failures: readonly FailureCode[];
}

function hubOperation<const Name extends string, Params extends z.ZodType, Result extends z.ZodType>(
  declaration: Omit<HubOperation<Name, Params, Result>, 'params' | 'result'> & {
    params: () => Params;
    result: () => Result;
  },
): HubOperation<Name, Params, Result> {
  const { params, result, ...facts } = declaration;
  let builtParams: Params | undefined;
  let builtResult: Result | undefined;
  return {
    ...facts,
    get params() {
      return (builtParams ??= params());
    },
    get result() {
      return (builtResult ??= result());
    },
  };
}

/** Things in one page of a list. */
export const HUB_PAGE_MAX = 500;
/** Milliseconds that an invitation is good for: shortest, unless told otherwise, longest. */
export const INVITE_MS_MIN = 10_000;
export const INVITE_MS_DEFAULT = 600_000;
export const INVITE_MS_MAX = 86_400_000;
/** Milliseconds that a login link is good for. */
export const LOGIN_LINK_MS = 300_000;
/** Days that a personal token may live, at most and unless told otherwise. */
export const TOKEN_DAYS_MAX = 366;
export const TOKEN_DAYS_DEFAULT = 90;

/** Numbers arrive as text in a query. */
const limit = () => z.coerce.number().int().positive().max(HUB_PAGE_MAX).default(HUB_PAGE_MAX);
const cursor = () => z.string().max(256).optional();
const page = {
  /** All that match, of which this page is a part. */
  total: z.int().nonnegative(),
  /** Asks for the next page; null: this is the last. */
  next: z.string().nullable(),
};

export const HubUser = z.object({
  name: UserName,
  role: HubRole,
  /** null: every node. */
  scope: HubScope.nullable(),
  disabled: z.boolean(),
  createdAt: z.iso.datetime(),
});
export type HubUser = z.infer<typeof HubUser>;

export const HubToken = z.object({
  id: TokenId,
  user: UserName,
  /** What its owner calls it. */
  label: z.string(),
  role: HubRole,
  scope: HubScope.nullable(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  /** To the minute; null: never. */
  lastUsedAt: z.iso.datetime().nullable(),
});
export type HubToken = z.infer<typeof HubToken>;

export const HubInvite = z.object({
  id: InviteId,
  nodeName: NodeName.nullable(),
  createdBy: z.string(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  /** The node that took it; null while none has. */
  usedBy: NodeId.nullable(),
});
export type HubInvite = z.infer<typeof HubInvite>;

/** One line of the audit log. A mutation has two: asked, before anything is done, and answered. */
export const AuditEntry = z.object({
  sequence: z.int().positive(),
  at: z.iso.datetime(),
  /** Ties the two lines together, and is in the answer of the API. */
  requestId: z.string(),
  phase: z.enum(['asked', 'answered']),
  /** A user name, `local` for whoever owns the hub's directory, `node ID`, or `nobody` before a login. */
  actor: z.string(),
  /** The token or browser session that it came with, without its secret. */
  credential: z.string().nullable(),
  /** Address of the peer; `local` for the socket. */
  from: z.string(),
  operation: z.string(),
  nodeId: NodeId.nullable(),
  /** What it was done to: ids and names of the request, never its texts or paths. */
  target: z.record(z.string(), z.string()),
  /** null in the line of the asking. */
  outcome: z.union([z.literal('done'), z.enum(FAILURE_CODES)]).nullable(),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

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

const label = () => boundedText(64).min(1);
const tokenDays = () => z.int().min(1).max(TOKEN_DAYS_MAX).default(TOKEN_DAYS_DEFAULT);

const declared = [
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
  hubOperation({
    name: 'nodes.list',
    summary: 'Lists the enrolled nodes by name, with their links.',
    role: 'observer',
    route: { method: 'GET', path: '/nodes' },
    params: () => z.strictObject({}),
    result: () => z.object({ nodes: z.array(HubNode) }),
    failures: [],
  }),
  hubOperation({
    name: 'nodes.show',
    summary: 'Shows one node, by name or id.',
    role: 'observer',
    route: { method: 'GET', path: '/nodes/{node}' },
    params: () => z.strictObject({ node: NodeSelector }),
    result: () => HubNode,
    failures: ['unknown-node'],
  }),
  hubOperation({
    name: 'nodes.rename',
    summary: 'Gives a node another name at this hub.',
    role: 'admin',
    route: { method: 'PATCH', path: '/nodes/{node}' },
    params: () => z.strictObject({ node: NodeSelector, name: NodeName }),
    result: () => HubNode,
    failures: ['unknown-node', 'name-taken'],
  }),
  hubOperation({
    name: 'nodes.remove',
    summary: 'Ends the enrolment of a node: its key is forgotten, its link closed. Its sessions go on.',
    role: 'admin',
    route: { method: 'DELETE', path: '/nodes/{node}' },
    params: () => z.strictObject({ node: NodeSelector }),
    result: () => z.object({ nodeId: NodeId }),
    failures: ['unknown-node'],
  }),
  hubOperation({
    name: 'sessions.list',
    summary: 'Lists sessions of all nodes: those that wait for a person first, then the newest.',
    role: 'observer',
    route: { method: 'GET', path: '/sessions' },
    params: () =>
      z.strictObject({
        node: NodeSelector.optional(),
        workspaceId: WorkspaceId.optional(),
        /** live: not ended. */
        status: z.enum(['live', 'ended', 'all']).default('live'),
        state: ActivityState.optional(),
        provider: z.string().max(64).optional(),
        /** In the name of session, workspace or node, or the start of the session's id. */
        search: boundedText(64).optional(),
        limit: limit(),
        cursor: cursor(),
      }),
    result: () => z.object({ sessions: z.array(PlacedSession), ...page }),
    failures: ['unknown-node'],
  }),
  hubOperation({
    name: 'sessions.show',
    summary: 'Shows one session wherever it is.',
    role: 'observer',
    route: { method: 'GET', path: '/sessions/{sessionId}' },
    params: () => z.strictObject({ sessionId: SessionId }),
    result: () => PlacedSession,
    failures: ['unknown-session'],
  }),
  hubOperation({
    name: 'sessions.watchers',
    summary: 'Lists who has the terminal of a session open through this hub.',
    role: 'observer',
    route: { method: 'GET', path: '/sessions/{sessionId}/watchers' },
    params: () => z.strictObject({ sessionId: SessionId }),
    result: () => z.object({ watchers: z.array(Watcher) }),
    failures: ['unknown-session'],
  }),
  hubOperation({
    name: 'records.list',
    summary: 'Lists records of all nodes, those that changed last first.',
    role: 'observer',
    route: { method: 'GET', path: '/records' },
    params: () =>
      z.strictObject({
        node: NodeSelector.optional(),
        workspaceId: WorkspaceId.optional(),
        state: z.enum(['live', 'identity-pending', 'dormant', 'unavailable']).optional(),
        search: boundedText(64).optional(),
        limit: limit(),
        cursor: cursor(),
      }),
    result: () => z.object({ records: z.array(PlacedRecord), ...page }),
    failures: ['unknown-node'],
  }),
  hubOperation({
    name: 'records.show',
    summary: 'Shows one record wherever it is.',
    role: 'observer',
    route: { method: 'GET', path: '/records/{recordId}' },
    params: () => z.strictObject({ recordId: RecordId }),
    result: () => PlacedRecord,
    failures: ['unknown-session-record'],
  }),
  hubOperation({
    name: 'workspaces.list',
    summary: 'Lists workspaces of all nodes, by node and id.',
    role: 'observer',
    route: { method: 'GET', path: '/workspaces' },
    params: () => z.strictObject({ node: NodeSelector.optional(), limit: limit(), cursor: cursor() }),
    result: () => z.object({ workspaces: z.array(PlacedWorkspace), ...page }),
    failures: ['unknown-node'],
  }),
  hubOperation({
    name: 'attention.list',
    summary: 'Lists the live sessions that wait for a person, those that wait longest first.',
    role: 'observer',
    route: { method: 'GET', path: '/attention' },
    params: () => z.strictObject({ node: NodeSelector.optional() }),
    result: () => z.object({ sessions: z.array(PlacedSession), truncated: z.boolean() }),
    failures: ['unknown-node'],
  }),
  hubOperation({
    name: 'invites.create',
    summary: 'Makes a one-time code with which one node enrols.',
    role: 'admin',
    route: { method: 'POST', path: '/invites' },
    params: () =>
      z.strictObject({
        /** What the node will be called; its own choice otherwise. */
        nodeName: NodeName.nullable().default(null),
        expiresInMs: z.int().min(INVITE_MS_MIN).max(INVITE_MS_MAX).default(INVITE_MS_DEFAULT),
      }),
    result: () =>
      z.object({
        invite: HubInvite,
        /** Secret, told once. */
        code: z.string(),
        url: z.string(),
      }),
    failures: ['name-taken'],
  }),
  hubOperation({
    name: 'invites.list',
    summary: 'Lists invitations that are open or were used in the last day.',
    role: 'admin',
    route: { method: 'GET', path: '/invites' },
    params: () => z.strictObject({}),
    result: () => z.object({ invites: z.array(HubInvite) }),
    failures: [],
  }),
  hubOperation({
    name: 'invites.revoke',
    summary: 'Takes an invitation back.',
    role: 'admin',
    route: { method: 'DELETE', path: '/invites/{inviteId}' },
    params: () => z.strictObject({ inviteId: InviteId }),
    result: () => z.object({}),
    failures: ['invite-invalid'],
  }),
  hubOperation({
    name: 'nodes.enrol',
    summary:
      'Enrols a node with the code of an invitation. Asked again with the same code, node and key, it answers the same.',
    role: 'public',
    route: { method: 'POST', path: '/enrol' },
    params: () =>
      z.strictObject({
        code: z.string().max(256),
        nodeId: NodeId,
        /** Taken with a number behind it when another node has it, unless the invitation names one. */
        nodeName: NodeName,
        /** 32 random bytes of the node, in hexadecimal: both sides prove it at every connection from now on. */
        key: z.string().regex(/^[0-9a-f]{64}$/),
      }),
    result: () => z.object({ hubId: HubId, nodeName: NodeName }),
    failures: ['invite-invalid', 'already-enrolled', 'rate-limited'],
  }),
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
  hubOperation({
    name: 'tokens.list',
    summary: 'Lists tokens that are good: those of the one who asks, or of all for an admin.',
    role: 'self',
    route: { method: 'GET', path: '/tokens' },
    params: () => z.strictObject({}),
    result: () => z.object({ tokens: z.array(HubToken) }),
    failures: [],
  }),
  hubOperation({
    name: 'tokens.create',
    summary: 'Makes a personal token; it can do no more than its user, and less when told so.',
    role: 'self',
    route: { method: 'POST', path: '/tokens' },
    params: () =>
      z.strictObject({
        /** The one who asks unless given. */
        user: UserName.optional(),
        label: label(),
        role: HubRole.optional(),
        scope: HubScope.nullable().default(null),
        expiresInDays: tokenDays(),
      }),
    result: () =>
      z.object({
        token: HubToken,
        /** `roost_hub_` and 64 hexadecimal digits: told once. */
        secret: z.string(),
      }),
    failures: ['unknown-user', 'forbidden'],
  }),
  hubOperation({
    name: 'tokens.revoke',
    summary: 'Ends a token; connections that were made with it are closed.',
    role: 'self',
    route: { method: 'DELETE', path: '/tokens/{tokenId}' },
    params: () => z.strictObject({ tokenId: TokenId }),
    result: () => z.object({}),
    failures: ['unknown-token'],
  }),
  hubOperation({
    name: 'logins.create',
    summary: 'Makes a link that logs a browser in, once.',
    role: 'self',
    route: { method: 'POST', path: '/login-links' },
    params: () => z.strictObject({ user: UserName.optional() }),
    result: () => z.object({ url: z.string(), expiresAt: z.iso.datetime() }),
    failures: ['unknown-user', 'forbidden'],
  }),
  hubOperation({
    name: 'logins.redeem',
    summary: 'Logs this browser in with the code of a link, and sets its cookie.',
    role: 'public',
    route: { method: 'POST', path: '/login' },
    params: () => z.strictObject({ code: z.string().max(256) }),
    result: () => Whoami,
    failures: ['unauthenticated', 'rate-limited'],
  }),
  hubOperation({
    name: 'logins.end',
    summary: 'Logs this browser out.',
    role: 'observer',
    route: { method: 'POST', path: '/logout' },
    params: () => z.strictObject({}),
    result: () => z.object({}),
    failures: [],
  }),
  hubOperation({
    name: 'audit.list',
    summary: 'Reads the audit log, newest first.',
    role: 'admin',
    route: { method: 'GET', path: '/audit' },
    params: () =>
      z.strictObject({
        actor: z.string().max(64).optional(),
        node: NodeSelector.optional(),
        operation: z.string().max(64).optional(),
        limit: limit(),
        /** Only lines before this one. */
        before: z.coerce.number().int().positive().optional(),
      }),
    result: () => z.object({ entries: z.array(AuditEntry), hasMore: z.boolean() }),
    failures: ['unknown-node'],
  }),
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
