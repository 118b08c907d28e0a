// Selectors of whoever reaches only some workspaces of a node: they mean one of their own things, or nothing. A node looks among all that
// it has, and what it answers tells of things that they may not see: that there are some, what they are called, that two are alike.
import {
  failure,
  FailureError,
  LIVE_STATUSES,
  RECORDS_MAX,
  type Failure,
  type FailureCode,
  type HubRecord,
  type HubSession,
  type NodeId,
  type OperationName,
  type Params,
  type Result,
  type SessionRecord,
  type WorkspaceId,
} from '@roost/protocol';
import type { NodeView } from '../fleet/fleet.ts';
import { workspacesOf, type Principal } from './principal.ts';

interface Asked {
  readonly nodeId: NodeId;
  readonly operation: OperationName;
  /** As the operation's schema gave them. */
  readonly params: unknown;
}

/** What the node has. */
export interface NodeFacts {
  /** As the hub has heard of it, while it hears of it. @throws FailureError: node-offline, stale-incarnation. */
  readonly viewOf: () => NodeView;
  /** As the node itself answers, to the hub. Fails as `Fleet.request` does. */
  readonly ask: (operation: 'session.list' | 'record.list', params: object) => Promise<unknown>;
}

/** Digits of an id that a prefix needs, and candidates that an ambiguity lists: as at a node. */
const PREFIX_LENGTH_MIN = 2;
const CANDIDATES_MAX = 16;

/** Whether what is asked has a selector that is to mean one of their own things. */
export function looksAmongOwn(
  principal: Pick<Principal, 'scope'>,
  { nodeId, operation }: Pick<Asked, 'nodeId' | 'operation'>,
): boolean {
  const isSelecting = operation === 'session.resolve' || operation === 'record.resolve';
  return isSelecting && workspacesOf(principal, nodeId) !== null;
}

/**
 * The parameters with the whole id of what the selector means among their own; null: they stay as they are. What the hub has not heard of
 * may have come to be this moment: then the node is asked for all that it has, and they learn of their own alone.
 * @throws FailureError: unknown-session, unknown-session-record, ambiguous-session, and as `facts`.
 */
export async function ownSelector(
  principal: Pick<Principal, 'scope'>,
  { nodeId, operation, params }: Asked,
  { viewOf, ask }: NodeFacts,
): Promise<{ readonly selector: string } | null> {
  const workspaces = workspacesOf(principal, nodeId);
  if (workspaces === null || !looksAmongOwn(principal, { nodeId, operation })) return null;
  const { selector } = params as Params<'session.resolve' | 'record.resolve'>;
  const isTheirs = ({ workspaceId }: { readonly workspaceId: WorkspaceId }) => workspaces.has(workspaceId);
  const view = viewOf();
  if (operation === 'session.resolve') {
    const among = (sessions: readonly Candidate<HubSession, 'status'>[]) =>
      meant(selector, sessions.filter(isTheirs), ({ status }) => LIVE_STATUSES.includes(status));
    const found = among([...view.sessions.values()]) ?? among(await listSessions(ask));
    if (found === null) throw new FailureError('unknown-session', { selector });
    return { selector: found.id };
  }
  const among = (records: readonly Candidate<HubRecord, 'activeSession'>[]) =>
    meant(selector, records.filter(isTheirs), ({ activeSession }) => activeSession !== null);
  const found = among([...view.records.values()]) ?? among(await listRecords(ask));
  if (found === null) throw new FailureError('unknown-session-record', { selector });
  return { selector: found.id };
}

/** What decides, which a view and a node's own list have alike. */
type Candidate<Thing extends HubSession | HubRecord, State extends keyof Thing> = Pick<
  Thing,
  'id' | 'name' | 'createdAt' | 'workspaceId' | State
>;

// The answers were held against their schemas where they came in.
async function listSessions(ask: NodeFacts['ask']): Promise<Result<'session.list'>['sessions']> {
  const { sessions } = (await ask('session.list', { includeEnded: true })) as Result<'session.list'>;
  return sessions;
}

/** In parts, for not all may fit into one answer. */
async function listRecords(ask: NodeFacts['ask']): Promise<SessionRecord[]> {
  const listed: SessionRecord[] = [];
  let after: object = {};
  for (;;) {
    const { records, truncated } = (await ask('record.list', after)) as Result<'record.list'>;
    listed.push(...records);
    const last = records.at(-1);
    // More than a node has by its own bounds is not believed.
    if (!truncated || last === undefined || listed.length >= RECORDS_MAX) return listed;
    after = { after: last.id };
  }
}

/**
 * In the order in which a node decides: the whole id, the live one of that name, the newest other one, the only one with that beginning.
 * null: none of them.
 */
function meant<Thing extends { readonly id: string; readonly name: string; readonly createdAt: string }>(
  selector: string,
  things: readonly Thing[],
  isPreferred: (thing: Thing) => boolean,
): Thing | null {
  const named = things.filter(({ name }) => name === selector);
  const found = things.find(({ id }) => id === selector) ?? named.find(isPreferred) ?? newest(named);
  if (found !== undefined) return found;
  const starting =
    selector.length < PREFIX_LENGTH_MIN ? [] : things.filter(({ id }) => id.startsWith(selector));
  const [only, ...others] = starting;
  if (only === undefined) return null;
  if (others.length === 0) return only;
  const candidates = starting.slice(0, CANDIDATES_MAX).map(({ id, name }) => `${name} (${id})`);
  throw new FailureError('ambiguous-session', { selector, candidates });
}

function newest<Thing extends { readonly createdAt: string }>(things: readonly Thing[]): Thing | undefined {
  return things.reduce<Thing | undefined>(
    (best, one) => (best === undefined || one.createdAt >= best.createdAt ? one : best),
    undefined,
  );
}

/** Of what an agent keeps itself the hub knows nothing: whatever is not theirs is as if it were not there. */
const HISTORY: ReadonlySet<OperationName> = new Set(['history.resolve', 'history.preview', 'history.read']);
/** What can come before anything was looked for; whatever else comes tells that something was found. */
const BEFORE_LOOKING: ReadonlySet<FailureCode> = new Set([
  'invalid-request',
  'unknown-operation',
  'unsupported-capability',
  'backend-busy',
  'shutting-down',
  'node-offline',
  'stale-incarnation',
  'connection-lost',
  'outcome-unknown',
  // How long it takes tells as much.
  'request-timed-out',
]);

/** The failure as they get it. */
export function ownFailure(
  principal: Pick<Principal, 'scope'>,
  { nodeId, operation, params }: Asked,
  reason: Failure,
): Failure {
  if (workspacesOf(principal, nodeId) === null) return reason;
  // Of a session that the hub has not heard of the node tells that it is in another workspace.
  if (reason.code === 'session-workspace-mismatch') return unknownSession(params);
  if (!HISTORY.has(operation) || BEFORE_LOOKING.has(reason.code)) return reason;
  const { selector, historyId } = params as { readonly selector?: string; readonly historyId?: string };
  return failure(
    'unknown-history-session',
    selector === undefined ? { historyId: historyId ?? '' } : { selector },
  );
}

/** As a node answers of a session that is not there; `params`: of an operation that names one. */
function unknownSession(params: unknown): Failure {
  const { sessionId } = params as { readonly sessionId?: string };
  return failure('unknown-session', sessionId === undefined ? {} : { sessionId });
}
