// What happened to the agent, as JSON lines in a file. Written synchronously: a line is there before the agent does
// anything that a test could see, and survives its death.
import { appendFileSync } from 'node:fs';

export class Journal {
  readonly #file: string;
  readonly #startedAt = performance.now();

  constructor(file: string) {
    this.#file = file;
  }

  note(event: string, facts: Readonly<Record<string, unknown>> = {}): void {
    if (this.#file === '') return;
    const ms = Math.round(performance.now() - this.#startedAt);
    appendFileSync(this.#file, `${JSON.stringify({ event, ms, ...facts })}\n`, { mode: 0o600 });
  }
}
