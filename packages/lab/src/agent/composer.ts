// The line editor without a screen: tokens in, prompts out. Pasted bytes join the prompt as they came.
import type { Token } from './input-parser.ts';

export class Composer {
  #parts: Buffer[] = [];

  get isEmpty(): boolean {
    return this.#parts.length === 0;
  }

  clear(): void {
    this.#parts = [];
  }

  /** The whole prompt when the token submits one. An empty composer submits nothing, like the real ones. */
  take(token: Token): Buffer | undefined {
    switch (token.kind) {
      case 'text':
      case 'paste':
        if (token.bytes.length > 0) this.#parts.push(token.bytes);
        return undefined;
      case 'newline':
        this.#parts.push(Buffer.from('\n'));
        return undefined;
      case 'backspace':
        this.#dropLastCharacter();
        return undefined;
      case 'enter': {
        if (this.isEmpty) return undefined;
        const prompt = Buffer.concat(this.#parts);
        this.clear();
        return prompt;
      }
      case 'control':
        // Ctrl+U empties the line, Ctrl+C drops it.
        if (token.byte === 0x15 || token.byte === 0x03) this.clear();
        return undefined;
      case 'escape':
      case 'answer':
      case 'focus':
      case 'sequence':
        return undefined;
    }
  }

  #dropLastCharacter(): void {
    const bytes = Buffer.concat(this.#parts);
    let end = bytes.length - 1;
    // UTF-8 continuation bytes belong to the character before them.
    while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
    this.#parts = end > 0 ? [bytes.subarray(0, end)] : [];
  }
}
