// The lab: stand-ins for what a test cannot own (a vendor's CLI, a vendor's cloud), and runners for the real ones.
export { labAgentFile, mockServerFile } from './lab-files.ts';
export {
  type MockReply,
  type RecordedRequest,
  type ReplyFunction,
  type ToolCall,
} from './mock-server/replies.ts';
export {
  type MockModelServer,
  type MockModelServerOptions,
  startMockModelServer,
} from './mock-server/server.ts';
export * from './real-cli.ts';
