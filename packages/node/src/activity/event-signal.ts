// What an event of an agent says about what the agent is doing; null when it says nothing about that.
import type { AgentEvent } from '@roost/protocol';
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
        detail: sentenceOf(event.title),
      };
    case 'quota':
      return event.isFinal
        ? { kind: 'blocked', reason: 'quota', authority: 'provider-quota', detail: sentenceOf(event.message) }
        : null;
    case 'turn-finished':
      return event.outcome === 'failed'
        ? {
            kind: 'blocked',
            reason: 'error',
            authority: null,
            detail: sentenceOf(event.fault ?? 'the turn failed'),
          }
        : { kind: 'finished', interrupted: event.outcome === 'interrupted' };
    case 'session-started':
    case 'identity':
    case 'blocked':
    case 'usage':
    case 'notice':
    case 'subagent-started':
    case 'subagent-finished':
    case 'choices':
    case 'session-ended':
      return null;
  }
}

/** Characters of what is said beside a state; in UTF-8, they are within its bound. */
const DETAIL_CHARACTERS = 120;

function sentenceOf(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= DETAIL_CHARACTERS ? line : `${line.slice(0, DETAIL_CHARACTERS).toWellFormed()}…`;
}
