// Keys of enrolled nodes as the fleet needs them: what cannot be read or removed is told, and stops nothing else.
import { FailureError, type HubId, type NodeId } from '@roost/protocol';
import type { Token } from '@roost/protocol/node';
import type { NodeKeys } from '../access/node-keys.ts';
import { faultOf } from './fault.ts';
import { CallingWay } from './node-way.ts';

export interface HeldKeysOptions {
  readonly hubId: HubId;
  readonly keys: NodeKeys;
  readonly log: (message: string, facts: Readonly<Record<string, unknown>>) => void;
}

export class HeldKeys {
  readonly #options: HeldKeysOptions;

  constructor(options: HeldKeysOptions) {
    this.#options = options;
  }

  /** null: there is none, or none that can be relied on. */
  read(nodeId: NodeId): Token | null {
    try {
      return this.#options.keys.read(nodeId);
    } catch (error) {
      this.#options.log('a key could not be read', { nodeId, ...faultOf(error) });
      return null;
    }
  }

  /** One that stays is removed at the next start. */
  forget(nodeId: NodeId): void {
    try {
      this.#options.keys.remove(nodeId);
    } catch (error) {
      this.#options.log('a key could not be removed', { nodeId, ...faultOf(error) });
    }
  }

  /** @throws FailureError: home-unusable, where the key is gone or cannot be read. */
  wayOf(nodeId: NodeId): CallingWay {
    const { keys, hubId } = this.#options;
    const token = keys.read(nodeId);
    if (token === null)
      throw new FailureError('home-unusable', { nodeId, reason: 'the key of the node is gone' });
    return new CallingWay({ hubId, token });
  }
}
