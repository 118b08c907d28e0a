/**
 * Who drives a terminal, and who asks to. One of those who may is in the seat; the others may take it at once, or ask. Whoever sits there
 * hands over or keeps it; when they leave, who asked first is next. How long to wait for an answer is for who asks to decide.
 */
import type { DriveAnswer, DriveAsks } from '@roost/protocol/terminal-frames';

/** Those who ask, of whom the driver is told. */
const ASKS_TOLD_MAX = 16;

export interface Contender {
  /** Of its attachment, among those of this terminal. */
  readonly id: number;
  /** As its node knows it; null from a node that does not tell. */
  readonly clientName: string | null;
  readonly attachment: {
    readonly mode: 'drive' | 'watch';
    sendAsks(asks: DriveAsks): void;
    sendKept(): void;
  };
}

export class DriverSeat<One extends Contender> {
  readonly #here = new Set<One>();
  /** In the order in which they asked. */
  readonly #asking = new Set<One>();
  readonly #changed: (now: One, before: One | null) => void;
  #driver: One | null = null;

  /** `changed`: somebody who was here already drives now. */
  constructor(changed: (now: One, before: One | null) => void) {
    this.#changed = changed;
  }

  get driver(): One | null {
    return this.#driver;
  }

  /** Drives from the beginning when it may and nobody does. */
  enter(one: One): void {
    this.#here.add(one);
    if (one.attachment.mode === 'drive') this.#driver ??= one;
  }

  takeOver(one: One): void {
    if (one.attachment.mode === 'drive' && one !== this.#driver) this.#seat(one);
  }

  ask(one: One): void {
    if (one.attachment.mode !== 'drive' || one === this.#driver || this.#asking.has(one)) return;
    if (this.#driver === null) {
      this.#seat(one);
      return;
    }
    this.#asking.add(one);
    this.#tellAsks();
  }

  /** What anybody but the driver answers, and to whom does not ask any more, is too late. */
  answer(by: One, { client, handOver }: DriveAnswer): void {
    const asker = [...this.#asking].find(({ id }) => id === client);
    if (by !== this.#driver || asker === undefined) return;
    if (handOver) {
      this.#seat(asker);
      return;
    }
    this.#asking.delete(asker);
    asker.attachment.sendKept();
    this.#tellAsks();
  }

  /** One who is left alone with nobody in the seat takes it, whoever left. */
  leave(one: One): void {
    this.#here.delete(one);
    const didAsk = this.#asking.delete(one);
    if (one === this.#driver) this.#driver = null;
    if (this.#driver !== null) {
      if (didAsk) this.#tellAsks();
      return;
    }
    const [first] = this.#asking;
    const candidates = [...this.#here].filter(({ attachment }) => attachment.mode === 'drive');
    const next = first ?? (candidates.length === 1 ? candidates[0] : undefined);
    if (next !== undefined) this.#seat(next);
  }

  clear(): void {
    this.#here.clear();
    this.#asking.clear();
    this.#driver = null;
  }

  #seat(one: One): void {
    const before = this.#driver;
    this.#driver = one;
    this.#asking.delete(one);
    this.#changed(one, before);
    if (this.#asking.size > 0) this.#tellAsks();
  }

  #tellAsks(): void {
    const asks = [...this.#asking].slice(0, ASKS_TOLD_MAX);
    this.#driver?.attachment.sendAsks({
      asks: asks.map(({ id, clientName }) => ({ client: id, clientName })),
    });
  }
}
