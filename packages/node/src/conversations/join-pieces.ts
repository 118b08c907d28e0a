// Pieces of one text that come at once are one piece: a timeline of single words would be larger than what it tells.
import { AGENT_TEXT_BYTES_MAX, type AgentEvent } from '@roost/protocol';

/** Adds the event, or makes the last one longer. */
export function addEvent(events: AgentEvent[], event: AgentEvent): void {
  const last = events.at(-1);
  const joined = last === undefined ? null : join(last, event);
  if (joined === null) events.push(event);
  else events[events.length - 1] = joined;
}

function join(one: AgentEvent, next: AgentEvent): AgentEvent | null {
  if (one.kind !== 'message' && one.kind !== 'thinking') return null;
  if (next.kind !== one.kind || !one.delta || !next.delta || one.agentId !== next.agentId) return null;
  const text = one.text + next.text;
  return Buffer.byteLength(text) > AGENT_TEXT_BYTES_MAX ? null : { ...one, text };
}
