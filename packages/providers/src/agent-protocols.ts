/** The structured protocols that agents are spoken with. */
import { acp } from './acp/driver.ts';
import type { AgentProtocol } from './agent-driver.ts';
import { claudeStreamJson } from './claude/stream-json.ts';
import { codexAppServer } from './codex/app-server.ts';

export const AGENT_PROTOCOLS: readonly AgentProtocol[] = [claudeStreamJson, codexAppServer, acp];

export function findAgentProtocol(id: string): AgentProtocol | null {
  return AGENT_PROTOCOLS.find((protocol) => protocol.id === id) ?? null;
}
