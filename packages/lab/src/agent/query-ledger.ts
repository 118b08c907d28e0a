// Counts what was asked of the terminal and what came back. Exactly one answer per question is right: none makes an agent
// wait, two end up as typed text.
import type { QueryKind } from './input-parser.ts';

const SEQUENCES: Readonly<Record<QueryKind, string>> = {
  da1: '\x1b[c',
  dsr: '\x1b[6n',
  osc10: '\x1b]10;?\x1b\\',
  osc11: '\x1b]11;?\x1b\\',
  kitty: '\x1b[?u',
};
const KINDS = Object.keys(SEQUENCES) as QueryKind[];

export class QueryLedger {
  readonly #asked = new Map<QueryKind, number>();
  readonly #answered = new Map<QueryKind, number>();

  /** `all` or a comma-separated list; returns the bytes to write. */
  ask(kinds: string): string {
    const wanted = kinds === 'all' ? KINDS : kinds.split(',').map(readKind);
    for (const kind of wanted) this.#asked.set(kind, (this.#asked.get(kind) ?? 0) + 1);
    return wanted.map((kind) => SEQUENCES[kind]).join('');
  }

  answer(kind: QueryKind): void {
    this.#answered.set(kind, (this.#answered.get(kind) ?? 0) + 1);
  }

  /** Answers and questions so far, e.g. `{da1: '1/1'}`. */
  counts(): Partial<Record<QueryKind, string>> {
    const seen = KINDS.filter((kind) => this.#asked.has(kind) || this.#answered.has(kind));
    return Object.fromEntries(
      seen.map((kind) => [kind, `${this.#answered.get(kind) ?? 0}/${this.#asked.get(kind) ?? 0}`]),
    );
  }
}

function readKind(name: string): QueryKind {
  const kind = KINDS.find((one) => one === name);
  if (kind === undefined) throw new Error(`query: one of ${KINDS.join(', ')}`);
  return kind;
}
