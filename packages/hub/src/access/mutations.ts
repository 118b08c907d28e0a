// Which operations change something: they are in the audit log, and a cookie alone does not allow them.
import {
  HUB_OPERATIONS,
  OPERATIONS,
  type HubOperationName,
  type OperationName,
  type Params,
} from '@roost/protocol';

/** Of a node: whatever takes the controller lease. The others that operators may do are reads, or of one connection. */
const OF_A_NODE_BESIDES: ReadonlySet<OperationName> = new Set<OperationName>([
  'controller.acquire',
  'controller.release',
  'hub.join',
  'hub.leave',
]);

export function isNodeMutation(operation: OperationName): boolean {
  return OPERATIONS[operation].access === 'controller' || OF_A_NODE_BESIDES.has(operation);
}

/** Whoever drives a terminal types into it, and no further request tells of that. `params`: as the operation's schema gave them. */
export function opensForTyping(operation: OperationName, params: unknown): boolean {
  return operation === 'terminal.open' && (params as Params<'terminal.open'>).mode === 'drive';
}

export function isHubMutation(operation: HubOperationName): boolean {
  return HUB_OPERATIONS[operation].route.method !== 'GET';
}
