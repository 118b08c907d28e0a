/**
 * Owns the hyperlinks (OSC 8) of a screen instead of the emulator, which puts a marker on the line for each time a link is
 * opened: a program that redraws its links would make every later scroll slower. Here a link is a number in the cells and
 * one entry in a bounded table; the oldest entry goes first, and its cells are then drawn as plain text.
 */
import type { Terminal } from '@xterm/headless';
import type { EmulatorInternals } from './emulator-internals.ts';

const LINKS_MAX = 4096;
/** Longer addresses are shown as text: no terminal opens them. */
const LINK_CHARACTERS_MAX = 4096;

export class Hyperlinks {
  readonly #ids = new Map<string, number>();
  readonly #links = new Map<number, string>();
  #next = 1;

  constructor(terminal: Terminal, internals: EmulatorInternals) {
    terminal.parser.registerOscHandler(8, (data) => {
      internals.setLink(this.#idOf(data));
      return true;
    });
  }

  /** Opens the link, or closes the open one when it is 0 or no longer known. */
  sequence(id: number): string {
    return `\x1b]8;${this.#links.get(id) ?? ';'}\x1b\\`;
  }

  #idOf(data: string): number {
    const separator = data.indexOf(';');
    if (separator === -1 || separator === data.length - 1 || data.length > LINK_CHARACTERS_MAX) return 0;
    const known = this.#ids.get(data);
    if (known !== undefined) return known;
    const id = this.#next++;
    this.#ids.set(data, id);
    this.#links.set(id, data);
    if (this.#links.size > LINKS_MAX) this.#forgetOldest();
    return id;
  }

  #forgetOldest(): void {
    for (const [id, data] of this.#links) {
      this.#links.delete(id);
      this.#ids.delete(data);
      return;
    }
  }
}
