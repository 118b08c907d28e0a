export {
  callerLine,
  connectCaller,
  connectNode,
  openLine,
  type CallerOptions,
  type NodeLine,
  type ConnectOptions,
  type EventCursor,
  type NodeConnection,
} from './connection.ts';
export { followEvents, type FollowOptions, type Resync } from './follow-events.ts';
export { followState } from './follow-state.ts';
export { connectThroughHub } from './hub/connect-through-hub.ts';
export { hubRequest, hubStatus, nodeRequest } from './hub/hub-request.ts';
export { FailureError, type Failure, type FailureCode } from '@roost/protocol';
export { isPassing } from './retry.ts';
export { splitPinned } from '@roost/protocol/node';
export { type HubTarget } from './hub/hub-target.ts';
export {
  hubHomePath,
  hubSocketPath,
  nodeSocketPath,
  nodeTokenPath,
  resolveHome,
  SOCKET_PATH_BYTES_MAX,
} from './home.ts';
export { nodeToken } from './node-token.ts';
export type { RequestOptions } from './open-requests.ts';
export { openNode, type OpenedNode, type OpenNodeOptions } from './open-node.ts';
export { nodeEnvironment, parseReadyLine, startHub, startNode, type StartOptions } from './start-node.ts';
export {
  attachSession,
  attachTerminal,
  type AttachOptions,
  type SessionAttachOptions,
  type TerminalAttachment,
  type TerminalListener,
} from './terminal-attachment.ts';
