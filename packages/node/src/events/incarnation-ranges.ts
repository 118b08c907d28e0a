// Which start of the node wrote which events. A start owns the sequences from its first one up to the next start's.
import * as z from 'zod';
import { Incarnation } from '@roost/protocol';
import type { Sql } from '@roost/storage';

interface Range {
  readonly incarnation: Incarnation;
  readonly first: number;
}

const Row = z.object({ incarnation: Incarnation, first_sequence: z.int().positive() });

export class IncarnationRanges {
  /** Ascending. */
  readonly #ranges: Range[];

  constructor(sql: Sql) {
    this.#ranges = sql
      .all('SELECT incarnation, first_sequence FROM incarnations ORDER BY first_sequence, rowid')
      .map((value) => {
        const row = Row.parse(value);
        return { incarnation: row.incarnation, first: row.first_sequence };
      });
  }

  /** Hears of every event in order. */
  note(incarnation: Incarnation, sequence: number): void {
    if (this.#ranges.at(-1)?.incarnation !== incarnation) this.#ranges.push({ incarnation, first: sequence });
  }

  /** null for what is older than all that is known. */
  writerOf(sequence: number): Incarnation | null {
    let low = 0;
    let high = this.#ranges.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ranges[middle]?.first ?? Infinity) <= sequence) low = middle + 1;
      else high = middle;
    }
    return this.#ranges[low - 1]?.incarnation ?? null;
  }

  /** Forgets starts that wrote nothing from `sequence` on. */
  forgetBefore(sequence: number): void {
    const kept = this.writerOf(sequence);
    const index = this.#ranges.findIndex(({ incarnation }) => incarnation === kept);
    if (index > 0) this.#ranges.splice(0, index);
  }
}
