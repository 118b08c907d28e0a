// How far a prompt is known to have come in a terminal, from what is heard and seen after it was written. Pure. Before it was, the agent
// waited with an empty composer: work that begins then is its work, unless the agent says that it began with something else.
import type { Activity, AgentEvent, PromptDelivery } from '@roost/protocol';

export interface PromptTurn {
  readonly text: string;
  readonly delivery: Exclude<PromptDelivery, 'queued'>;
  /** The agent has said that it works on something else. */
  readonly isOther: boolean;
}

export function writtenPrompt(text: string): PromptTurn {
  return { text, delivery: 'written', isOther: false };
}

/** The agent itself says something. */
export function heardAfter(turn: PromptTurn, event: AgentEvent): PromptTurn {
  switch (event.kind) {
    case 'turn-started':
      if (turn.delivery !== 'written') return turn;
      if (event.prompt === null || event.prompt === '') return turn.isOther ? turn : begun(turn);
      return isSamePrompt(event.prompt, turn.text) ? begun(turn) : { ...turn, isOther: true };
    case 'turn-finished':
      return turn.delivery === 'accepted' ? { ...turn, delivery: 'answered' } : turn;
    default:
      return turn;
  }
}

/** What the session is said to be doing has changed. */
export function shownAfter(
  turn: PromptTurn,
  { state, reason }: Pick<Activity, 'state' | 'reason'>,
): PromptTurn {
  const isAtWork =
    state === 'working' || (state === 'blocked' && (reason === 'approval' || reason === 'question'));
  if (isAtWork) return turn.delivery === 'written' && !turn.isOther ? begun(turn) : turn;
  const isOver = state === 'done' || state === 'idle' || state === 'blocked';
  return isOver && turn.delivery === 'accepted' ? { ...turn, delivery: 'answered' } : turn;
}

function begun(turn: PromptTurn): PromptTurn {
  return { ...turn, delivery: 'accepted' };
}

/** Characters that are compared. */
const COMPARED = 256;
/** How control characters are made readable before they are written. */
const NEUTRALISED = /<(?:ESC|CSI|U\+[0-9A-F]{4})>/g;

/** Agents rewrite blanks, and reports cut long prompts: letters and digits must agree, as far as they are told. */
export function isSamePrompt(told: string, given: string): boolean {
  const one = squashed(told);
  const other = squashed(given);
  return told.endsWith('…') ? other.startsWith(one) || one.startsWith(other) : one === other;
}

function squashed(text: string): string {
  return text
    .slice(0, 16 * COMPARED)
    .replaceAll(/\x1b|\x9b/g, '')
    .replaceAll(NEUTRALISED, '')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .slice(0, COMPARED);
}
