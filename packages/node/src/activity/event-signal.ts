// What an event of an agent says about what the agent is doing; null when it says nothing about that. What it shows is kept for long and
// told to everybody who watches: of the event it takes names and codes, never what the agent was given or has written.
import type { AgentEvent } from '@roost/protocol';
import { LOGIN_REQUIRED } from '@roost/providers';
import type { Signal } from './activity-state.ts';

const WORKING: Signal = { kind: 'working' };

export function signalOfEvent(event: AgentEvent): Signal | null {
  switch (event.kind) {
    case 'turn-started':
    case 'message':
    case 'thinking':
    case 'tool-started':
    case 'tool-finished':
    case 'plan':
    case 'interaction-settled':
      return WORKING;
    case 'interaction-requested':
      return {
        kind: 'blocked',
        reason: event.interaction,
        authority: null,
        detail: event.tool,
      };
    case 'quota':
      return event.isFinal
        ? {
            kind: 'blocked',
            reason: 'quota',
            authority: 'provider-quota',
            detail: event.resetsAt === null ? event.code : `until ${event.resetsAt}`,
          }
        : null;
    case 'turn-finished':
      return event.outcome === 'failed'
        ? { kind: 'blocked', reason: 'error', authority: null, detail: event.stopReason }
        : { kind: 'finished', interrupted: event.outcome === 'interrupted' };
    case 'blocked':
      return event.reasonKind === LOGIN_REQUIRED
        ? { kind: 'blocked', reason: 'login', authority: event.authority, detail: null }
        : null;
    case 'session-ended':
      return event.fault === null
        ? null
        : { kind: 'blocked', reason: 'error', authority: null, detail: null };
    case 'session-started':
    case 'identity':
    case 'usage':
    case 'notice':
    case 'subagent-started':
    case 'subagent-finished':
    case 'choices':
      return null;
  }
}
