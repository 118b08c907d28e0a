/** What the sessions of a node were said to do, from its first start on, as its journal has it: each look reads what is new. */
import type { NodeConnection } from '@roost/client';
import type { Session } from '@roost/protocol';

export class ToldStates {
  readonly #shown: (session: Session) => string;
  readonly #told: string[] = [];
  #after = 0;

  constructor(shown: (session: Session) => string) {
    this.#shown = shown;
  }

  /** Without what says nothing new, and without the mere running. */
  async read(node: NodeConnection): Promise<readonly string[]> {
    const { events } = await node.request('events.read', { after: this.#after });
    for (const { sequence, body } of events) {
      this.#after = sequence;
      if (body.kind !== 'session-changed') continue;
      this.#told.push(this.#shown(body.session));
    }
    return this.#told.filter((state, index) => state !== 'running' && state !== this.#told[index - 1]);
  }
}
