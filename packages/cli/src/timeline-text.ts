/** Entries of a timeline for people: what was said as it was said, the rest in a line each. */
import type { AgentEvent } from '@roost/protocol';
import type { Palette } from './paint.ts';
import { printable, printableLines } from './printable.ts';

/** Characters of what a tool was given. */
const INPUT_SHOWN = 200;
/** Lines of what a tool answered. */
const OUTPUT_LINES_SHOWN = 8;

export class TimelineText {
  readonly #palette: Palette;
  /** Pieces of a message were shown: the whole one that follows is nothing new. */
  #pieces: 'message' | 'thinking' | null = null;
  #isLineOpen = false;

  constructor(palette: Palette) {
    this.#palette = palette;
  }

  /** What to write for it; empty for what people need not see. */
  add(event: AgentEvent): string {
    if (event.kind === 'message' || event.kind === 'thinking') return this.#said(event);
    this.#pieces = null;
    const line = this.#lineFor(event);
    return line === null ? '' : `${this.end()}${line}\n`;
  }

  /** Ends the line that was begun. */
  end(): string {
    const end = this.#isLineOpen ? '\n' : '';
    this.#isLineOpen = false;
    return end;
  }

  #said({ kind, text, delta }: Extract<AgentEvent, { kind: 'message' | 'thinking' }>): string {
    if (!delta && this.#pieces === kind) {
      this.#pieces = null;
      return this.end();
    }
    const before = this.#pieces === kind ? '' : this.end();
    this.#pieces = delta ? kind : null;
    const shown = printableLines(text);
    if (shown === '') return before;
    this.#isLineOpen = !shown.endsWith('\n');
    return `${before}${kind === 'thinking' ? this.#palette.faint(shown) : shown}`;
  }

  #lineFor(event: Exclude<AgentEvent, { kind: 'message' | 'thinking' }>): string | null {
    const { strong, faint, good, warn, bad } = this.#palette;
    switch (event.kind) {
      case 'session-started':
        return faint(
          printable(['session', event.model, event.version].filter((one) => one !== null).join(' ')),
        );
      case 'turn-started':
        return event.prompt === null ? null : strong(`> ${printableLines(event.prompt)}`);
      case 'tool-started':
        return `${good('*')} ${printable(event.tool)} ${faint(printable((event.title ?? event.input).slice(0, INPUT_SHOWN)))}`;
      case 'tool-finished': {
        const output = printableLines(event.output).split('\n').slice(0, OUTPUT_LINES_SHOWN).join('\n');
        const paint = event.outcome === 'ok' ? faint : bad;
        return paint(event.outcome === 'ok' ? output : `${event.outcome} ${output}`.trimEnd());
      }
      case 'plan':
        return event.entries
          .map(({ text, status }) => faint(`${MARKS[status]} ${printable(text)}`))
          .join('\n');
      case 'interaction-requested':
        return warn(
          `? ${printable(event.title)}\n${printableLines(event.detail)}\n  ${event.requestId}  ${event.options
            .map(({ optionId, label }) => printable(`[${optionId}] ${label}`))
            .join('  ')}`,
        );
      case 'interaction-settled':
        return faint(`${event.requestId} ${event.outcome}`);
      case 'blocked':
        return bad(`blocked by ${event.authority}: ${printable(`${event.tool} ${event.reason}`)}`);
      case 'quota':
        return bad(
          `limit: ${printable(event.message)}${event.resetsAt === null ? '' : ` until ${event.resetsAt}`}`,
        );
      case 'turn-finished':
        return event.outcome === 'completed'
          ? null
          : bad(printable([event.outcome, event.fault ?? event.stopReason ?? ''].join(' ').trimEnd()));
      case 'notice':
        return (event.level === 'info' ? faint : warn)(printable(event.text));
      case 'session-ended':
        return faint(printable(`ended ${event.fault ?? ''}`.trimEnd()));
      case 'subagent-started':
        return faint(printable(`sub-agent ${event.title ?? event.agentId}`));
      case 'choices':
        return event.current === null ? null : faint(printable(`${event.choice}: ${event.current}`));
      case 'identity':
      case 'usage':
      case 'subagent-finished':
        return null;
    }
  }
}

const MARKS = { pending: '[ ]', 'in-progress': '[-]', completed: '[x]' } as const;
