export { connectNode, type ConnectOptions, type NodeConnection, type RequestOptions } from './connection.ts';
export { followEvents, type FollowOptions } from './follow-events.ts';
export { nodeSocketPath, resolveHome, SOCKET_PATH_BYTES_MAX } from './home.ts';
export { openNode, type OpenedNode, type OpenNodeOptions } from './open-node.ts';
export { nodeEnvironment, parseReadyLine, startNode, type StartOptions } from './start-node.ts';
export {
  attachTerminal,
  type AttachOptions,
  type TerminalAttachment,
  type TerminalListener,
} from './terminal-attachment.ts';
