/**
 * Parsing terminal output costs far more than forwarding it, so it is done in slices, round robin over the sessions
 * that have unparsed bytes, with a bound per turn of the event loop: a flood in one session delays another session's
 * keystroke by at most one turn.
 */

/** Milliseconds of parsing in one turn of the event loop: a keystroke beside a flood waits for two or three turns. */
const TURN_MS = 1;
/** Bytes parsed in one go: well under a millisecond for plain text. */
export const PARSE_SLICE_BYTES = 16 * 1024;

export interface PumpSource {
  /** Parses about one slice; true when more is left. */
  parseSlice(): boolean;
}

export class ScreenPump {
  readonly #waiting = new Set<PumpSource>();
  #scheduled = false;

  request(source: PumpSource): void {
    this.#waiting.add(source);
    this.#schedule();
  }

  forget(source: PumpSource): void {
    this.#waiting.delete(source);
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.size === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#turn();
      this.#schedule();
    });
  }

  #turn(): void {
    const until = performance.now() + TURN_MS;
    while (this.#waiting.size > 0) {
      for (const source of [...this.#waiting]) {
        // Re-added at the back when more is left: the next in line goes first.
        this.#waiting.delete(source);
        if (source.parseSlice()) this.#waiting.add(source);
        if (performance.now() >= until) return;
      }
    }
  }
}
