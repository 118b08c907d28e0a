/** The client for browsers, and for programs that work through a hub: no module of Node is needed. */
export { FailureError, type Failure, type FailureCode } from '@roost/protocol';
export { followHub, type FollowHubOptions, type HubNews } from './follow-hub.ts';
export {
  hubApi,
  type CallOptions,
  type HubApi,
  type HubApiOptions,
  type NodeCallOptions,
} from './hub-api.ts';
export { HubMirror, type HubMirrorOptions, type MirrorState } from './hub-mirror.ts';
export {
  foldHubEvents,
  replaceNode,
  viewOf,
  workspaceKey,
  type HubLists,
  type HubView,
  type SeenInteraction,
  type SeenRecord,
  type SeenSession,
  type SeenWorkspace,
} from './hub-view.ts';
export { readHub } from './read-hub.ts';
export {
  connectThroughHub,
  type RelayConnection,
  type RelayOptions,
  type TerminalOptions,
} from './relay-connection.ts';
export type { OpenWebSocket, WebSocketLike } from './web-socket.ts';
export type { TerminalAttachment, TerminalListener } from '../terminal-lane.ts';
export type { RequestOptions } from '../open-requests.ts';
export { isPassing } from '../retry.ts';
