// The messages of one session, read in the order in which they were written, of which only a window is ever held.
import { HISTORY_PREVIEW_TEXT_BYTES_MAX, HISTORY_TOOLS_MAX, type HistoryMessage } from '@roost/protocol';
import { boundText, type HistoryItem } from '@roost/providers';

/** Keys of messages that are remembered, because a later line may replace them. */
const KEYS_MAX = 10_000;

/** Which messages are held: some from a number on, or the last ones. */
export type Window =
  | { readonly kind: 'from'; readonly first: number; readonly limit: number }
  | { readonly kind: 'last'; readonly limit: number };

type Held = Omit<HistoryItem, 'key'>;

export class Conversation {
  readonly #window: Window;
  /** By number. */
  readonly #held = new Map<number, Held>();
  readonly #numbers = new Map<string, number>();
  #count = 0;
  #lastRole: HistoryItem['role'] | null = null;

  constructor(window: Window) {
    this.#window = window;
  }

  /** Messages so far. */
  get count(): number {
    return this.#count;
  }

  add({ key, ...item }: HistoryItem): void {
    const known = key === null ? undefined : this.#numbers.get(key);
    if (known !== undefined) {
      if (this.#held.has(known)) this.#held.set(known, item);
      return;
    }
    if (item.text === '' && item.role === 'assistant' && this.#lastRole === 'assistant') {
      this.#addTools(item.tools);
      return;
    }
    const number = this.#count;
    this.#count += 1;
    this.#lastRole = item.role;
    if (key !== null && this.#numbers.size < KEYS_MAX) this.#numbers.set(key, number);
    this.#hold(number, item);
  }

  /** Those that are held, in order. */
  messages(): HistoryMessage[] {
    return [...this.#held.values()].map(({ role, text, tools, at }) => ({
      role,
      text,
      tools: [...tools],
      at: at === null ? null : new Date(at).toISOString(),
    }));
  }

  #addTools(tools: readonly string[]): void {
    const number = this.#count - 1;
    const held = this.#held.get(number);
    if (held === undefined) return;
    this.#held.set(number, { ...held, tools: [...held.tools, ...tools].slice(0, HISTORY_TOOLS_MAX) });
  }

  #hold(number: number, item: Held): void {
    if (this.#window.kind === 'from') {
      const { first, limit } = this.#window;
      if (number >= first && number < first + limit) this.#held.set(number, item);
      return;
    }
    this.#held.set(number, item);
    this.#held.delete(number - this.#window.limit);
  }
}

/** As it is shown in a preview. */
export function previewed(message: HistoryMessage): HistoryMessage {
  return { ...message, text: boundText(message.text, HISTORY_PREVIEW_TEXT_BYTES_MAX) };
}
