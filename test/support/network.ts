/** Two network namespaces of this machine with a line between them that a test can cut; nothing leaves them. */
import { execFileSync } from 'node:child_process';

const HERE = '192.0.2.1';
const THERE = '192.0.2.2';

const ip = (...words: string[]): void => void execFileSync('ip', words, { stdio: 'pipe' });

export class Network implements Disposable {
  /** Address of the first namespace in the second. */
  readonly address = HERE;
  /** Words that make a command run in one of them. */
  readonly first: readonly string[];
  readonly second: readonly string[];
  readonly #names: readonly [string, string];
  readonly #ends: readonly [string, string];

  private constructor() {
    const number = process.pid;
    this.#names = [`roost-a-${number}`, `roost-b-${number}`];
    // Names of interfaces have at most 15 characters.
    this.#ends = [`rst-a-${number}`, `rst-b-${number}`];
    [this.first, this.second] = this.#names.map((name) => ['ip', 'netns', 'exec', name]) as [
      string[],
      string[],
    ];
  }

  /** Or why there is none. */
  static make(): Network | string {
    const network = new Network();
    try {
      network.#make();
      return network;
    } catch (error) {
      network[Symbol.dispose]();
      return `no network namespace can be made here: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  #make(): void {
    const [names, ends] = [this.#names, this.#ends];
    for (const name of names) ip('netns', 'add', name);
    ip('link', 'add', ends[0], 'netns', names[0], 'type', 'veth', 'peer', 'name', ends[1], 'netns', names[1]);
    for (const [index, address] of [HERE, THERE].entries()) {
      const [name = '', end = ''] = [names[index], ends[index]];
      ip('-n', name, 'address', 'add', `${address}/30`, 'dev', end);
      for (const link of ['lo', end]) ip('-n', name, 'link', 'set', link, 'up');
    }
  }

  cut(): void {
    ip('-n', this.#names[0], 'link', 'set', this.#ends[0], 'down');
  }

  mend(): void {
    ip('-n', this.#names[0], 'link', 'set', this.#ends[0], 'up');
  }

  [Symbol.dispose](): void {
    for (const name of this.#names) {
      try {
        ip('netns', 'delete', name);
      } catch {
        // It was not made.
      }
    }
  }
}
