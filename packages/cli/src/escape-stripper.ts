/**
 * What a program wrote to its terminal, as plain text: control sequences and strings are left out, wherever the stream is
 * cut. Overwriting is not undone: a line drawn twice appears twice.
 */
type State = 'text' | 'escape' | 'escape-intermediate' | 'control-sequence' | 'string' | 'string-escape';

const ESC = 0x1b;
const BEL = 0x07;
const CAN = 0x18;
const SUB = 0x1a;

export class EscapeStripper {
  readonly #decoder = new TextDecoder();
  #state: State = 'text';
  #afterReturn = false;

  push(bytes: Uint8Array): string {
    let text = '';
    for (const character of this.#decoder.decode(bytes, { stream: true })) text += this.#take(character);
    return text;
  }

  #take(character: string): string {
    const code = character.codePointAt(0) ?? 0;
    if (code === CAN || code === SUB) {
      this.#state = 'text';
      return '';
    }
    switch (this.#state) {
      case 'text':
        return this.#takeText(character, code);
      case 'escape':
        if (character === '[') this.#state = 'control-sequence';
        else if (']PX^_'.includes(character)) this.#state = 'string';
        else if (code >= 0x20 && code <= 0x2f) this.#state = 'escape-intermediate';
        else if (code !== ESC) this.#state = 'text';
        return '';
      case 'escape-intermediate':
        if (code >= 0x30 || code < 0x20) this.#state = code === ESC ? 'escape' : 'text';
        return '';
      case 'control-sequence':
        if (code === ESC) this.#state = 'escape';
        else if (code >= 0x40 && code <= 0x7e) this.#state = 'text';
        return '';
      case 'string':
        if (code === BEL || code === 0x9c) this.#state = 'text';
        else if (code === ESC) this.#state = 'string-escape';
        return '';
      case 'string-escape':
        // Only `ESC \` ends the string properly; any other sequence ends it, too, and is one itself.
        this.#state = character === '\\' ? 'text' : 'escape';
        return this.#state === 'escape' ? this.#take(character) : '';
    }
  }

  #takeText(character: string, code: number): string {
    const afterReturn = this.#afterReturn;
    this.#afterReturn = false;
    if (code === ESC) {
      this.#afterReturn = afterReturn;
      this.#state = 'escape';
      return '';
    }
    if (code === 0x0d) {
      this.#afterReturn = true;
      return '';
    }
    // A return without a line feed goes back over the line: what comes is another version of it.
    if (code === 0x0a) return '\n';
    if (code < 0x20 && code !== 0x09) return '';
    if (code >= 0x7f && code <= 0x9f) return '';
    return afterReturn ? `\n${character}` : character;
  }
}
