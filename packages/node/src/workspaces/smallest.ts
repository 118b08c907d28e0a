// The first few of many, in order, without holding the many.

export class Smallest<Value> {
  readonly #max: number;
  readonly #compare: (one: Value, other: Value) => number;
  readonly #isBetter: (value: Value, there: Value) => boolean;
  readonly #values: Value[] = [];
  #dropped = false;

  /** Of equal ones the first is held, unless a later one is better. */
  constructor(
    max: number,
    compare: (one: Value, other: Value) => number,
    isBetter: (value: Value, there: Value) => boolean = () => false,
  ) {
    this.#max = max;
    this.#compare = compare;
    this.#isBetter = isBetter;
  }

  /** In order, no two of them equal. */
  get values(): readonly Value[] {
    return this.#values;
  }

  /** Whether there were more than are held. */
  get dropped(): boolean {
    return this.#dropped;
  }

  add(value: Value): void {
    const last = this.#values.at(-1);
    const isFull = this.#values.length >= this.#max;
    if (isFull && (last === undefined || this.#compare(value, last) > 0)) {
      this.#dropped = true;
      return;
    }
    let [from, to] = [0, this.#values.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      const there = this.#values[middle];
      if (there !== undefined && this.#compare(there, value) < 0) from = middle + 1;
      else to = middle;
    }
    const there = this.#values[from];
    if (there !== undefined && this.#compare(there, value) === 0) {
      if (this.#isBetter(value, there)) this.#values[from] = value;
      return;
    }
    this.#values.splice(from, 0, value);
    if (this.#values.length <= this.#max) return;
    this.#values.pop();
    this.#dropped = true;
  }
}
