// Rows that stay in order: a change costs a search and a move, a list costs no sorting. For some ten thousand of them.
export class SortedRows<Key, Row extends Key> {
  readonly #compare: (one: Key, other: Key) => number;
  readonly #sorted: Row[] = [];
  readonly #byId = new Map<string, Row>();

  /** A key is what decides the place of a row; `compare` never calls those of different rows equal. */
  constructor(compare: (one: Key, other: Key) => number) {
    this.#compare = compare;
  }

  /** In order; changes under whoever keeps it. */
  get rows(): readonly Row[] {
    return this.#sorted;
  }

  get(id: string): Row | undefined {
    return this.#byId.get(id);
  }

  /** In place of the row of that id, if there is one. */
  put(id: string, row: Row): void {
    this.remove(id);
    this.#byId.set(id, row);
    this.#sorted.splice(this.firstFrom(row), 0, row);
  }

  remove(id: string): void {
    const row = this.#byId.get(id);
    if (row === undefined) return;
    this.#byId.delete(id);
    this.#sorted.splice(this.firstFrom(row), 1);
  }

  /** Position of the first row that is not before that key, whose row need not be among them. */
  firstFrom(key: Key): number {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = this.#sorted[middle];
      if (at !== undefined && this.#compare(at, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
