// The node beside the hub, while nobody knows yet which one it is: dialled until it tells.
import type { NodeConnection } from '@roost/client';
import type { Hello, NodeId } from '@roost/protocol';
import { faultOf } from './fault.ts';
import { DialledWay, type DialTarget } from './node-way.ts';

/** Milliseconds before the second attempt, doubled up to the most, and shortened by up to a half. */
const RETRY_MS = { first: 100, most: 5_000 } as const;

export interface NodeBesideOptions {
  readonly client: Hello['client'];
  readonly random: () => number;
  readonly log: (message: string, facts: Readonly<Record<string, unknown>>) => void;
  /** A node answers there: once for each `learn`. */
  readonly found: (nodeId: NodeId, target: DialTarget) => void;
}

export class NodeBeside {
  readonly #options: NodeBesideOptions;
  #isLearning = false;
  #retry: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(options: NodeBesideOptions) {
    this.#options = options;
  }

  /** Nothing new while that is under way. */
  learn(target: DialTarget): void {
    if (this.#isLearning) return;
    this.#isLearning = true;
    this.#attempt(target, 0);
  }

  close(): void {
    this.#isClosed = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
  }

  #attempt(target: DialTarget, failures: number): void {
    const { client, found, log } = this.#options;
    const tell = (connection: NodeConnection): void => {
      connection.close();
      if (!this.#isClosed) found(connection.node.id, target);
      this.#isLearning = false;
    };
    new DialledWay(target)
      .connect(client)
      .then(tell)
      .catch((error: unknown) => {
        log('the node beside the hub is not known yet', faultOf(error));
        this.#again(target, failures);
      });
  }

  #again(target: DialTarget, failures: number): void {
    if (this.#isClosed) return;
    const delay = Math.min(RETRY_MS.most, RETRY_MS.first * 2 ** Math.min(failures, 6));
    this.#retry = setTimeout(
      () => this.#attempt(target, failures + 1),
      delay * (0.5 + this.#options.random() / 2),
    ).unref();
  }
}
