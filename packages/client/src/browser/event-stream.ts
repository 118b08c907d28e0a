// Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), as far as a hub uses them.

export interface StreamMessage {
  /** `message` unless the server names it. */
  readonly event: string;
  /** Of this message or the last one before it that had one; empty: none had. */
  readonly id: string;
  readonly data: string;
}

/** Characters of one message: far more than an event of a hub has. */
const MESSAGE_CHARACTERS_MAX = 1024 * 1024;

/** Cuts the text of a stream into messages. Comments, which only show that the line lives, are none. */
export class EventStreamReader {
  #rest = '';
  #event = '';
  #id = '';
  #data: string[] = [];
  #characters = 0;

  /** @throws Error when a message is longer than any of a hub. */
  push(text: string): StreamMessage[] {
    const messages: StreamMessage[] = [];
    // A line break may be cut in two: a carriage return at the end waits for what follows.
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    this.#characters += text.length;
    if (this.#characters > MESSAGE_CHARACTERS_MAX && lines.length === 0)
      throw new Error('an endless message');
    for (const line of lines) {
      if (line !== '') this.#readField(line);
      else {
        if (this.#data.length > 0)
          messages.push({
            event: this.#event === '' ? 'message' : this.#event,
            id: this.#id,
            data: this.#data.join('\n'),
          });
        this.#event = '';
        this.#data = [];
        this.#characters = 0;
      }
    }
    return messages;
  }

  #readField(line: string): void {
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'event') this.#event = value;
    else if (name === 'id') this.#id = value;
    else if (name === 'data') this.#data.push(value);
  }
}
