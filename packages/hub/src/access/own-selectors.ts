// Selectors of whoever reaches only some workspaces of a node: they mean one of their own things, or nothing. A node looks among all that it
// has, and what it answers tells of things that they may not see: that there are some, what they are called, that two are alike.
import {
  failure,
  FailureError,
  LIVE_STATUSES,
  type Failure,
  type FailureCode,
  type HubRecord,
  type HubSession,
  type NodeId,
  type OperationName,
  type Params,
} from '@roost/protocol';
import type { NodeView } from '../fleet/fleet.ts';
import { workspacesOf, type Principal } from './principal.ts';

interface Asked {
  readonly nodeId: NodeId;
  readonly operation: OperationName;
  /** As the operation's schema gave them. */
  readonly params: unknown;
}

/** Digits of an id that a prefix needs, and candidates that an ambiguity lists: as at a node. */
const PREFIX_LENGTH_MIN = 2;
const CANDIDATES_MAX = 16;

/**
 * The parameters with the whole id of what the selector means among their own; null: they stay as they are.
 * @throws FailureError: unknown-session, unknown-session-record, ambiguous-session.
 */
export function ownSelector(
  principal: Pick<Principal, 'scope'>,
  { nodeId, operation, params }: Asked,
  viewOf: () => NodeView,
): { readonly selector: string } | null {
  if (operation !== 'session.resolve' && operation !== 'record.resolve') return null;
  const workspaces = workspacesOf(principal, nodeId);
  if (workspaces === null) return null;
  const { selector } = params as Params<'session.resolve' | 'record.resolve'>;
  const { sessions, records } = viewOf();
  const isTheirs = ({ workspaceId }: HubSession | HubRecord) => workspaces.has(workspaceId);
  const { id } =
    operation === 'session.resolve'
      ? meant(selector, [...sessions.values()].filter(isTheirs), isLive, 'unknown-session')
      : meant(selector, [...records.values()].filter(isTheirs), isActive, 'unknown-session-record');
  return { selector: id };
}

const isLive = ({ status }: HubSession) => LIVE_STATUSES.includes(status);
const isActive = ({ activeSession }: HubRecord) => activeSession !== null;

/** In the order in which a node decides: the whole id, the live one of that name, the newest other one, the only one with that beginning. */
function meant<
  Thing extends Pick<HubSession, 'id' | 'name' | 'createdAt'> | Pick<HubRecord, 'id' | 'name' | 'createdAt'>,
>(
  selector: string,
  things: readonly Thing[],
  isPreferred: (thing: Thing) => boolean,
  missing: FailureCode,
): Thing {
  const named = things.filter(({ name }) => name === selector);
  const found = things.find(({ id }) => id === selector) ?? named.find(isPreferred) ?? newest(named);
  if (found !== undefined) return found;
  const starting =
    selector.length < PREFIX_LENGTH_MIN ? [] : things.filter(({ id }) => id.startsWith(selector));
  const [only, ...others] = starting;
  if (only === undefined) throw new FailureError(missing, { selector });
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
const UNSEEN: ReadonlySet<FailureCode> = new Set([
  'out-of-scope',
  'unknown-history-session',
  'ambiguous-history-session',
  'history-unreadable',
]);

/** The failure as they get it. */
export function ownFailure(
  principal: Pick<Principal, 'scope'>,
  { nodeId, operation, params }: Asked,
  reason: Failure,
): Failure {
  if (!HISTORY.has(operation) || !UNSEEN.has(reason.code)) return reason;
  if (workspacesOf(principal, nodeId) === null) return reason;
  const { selector, historyId } = params as { readonly selector?: string; readonly historyId?: string };
  return failure(
    'unknown-history-session',
    selector === undefined ? { historyId: historyId ?? '' } : { selector },
  );
}
