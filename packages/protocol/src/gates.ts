/**
 * Capabilities in schemas: a part of a schema that only some peers may see carries a gate. The projector reads the gates;
 * nothing else decides what a peer sees, so a new field cannot be forgotten in one of several places.
 */
import * as z from 'zod';
import { LEGACY_PROVIDERS, type Capability } from './capabilities.ts';

export interface Gate {
  readonly capability: Capability;
  /**
   * field: without the capability the value becomes null, or is left out where null is not allowed.
   * itself: without it the value is hidden: an element leaves its list, a reply is refused.
   * owner: the same for the object around the value.
   */
  readonly hides: 'field' | 'itself' | 'owner';
  /** Whether this value needs the capability; null and undefined never do. */
  readonly applies: (value: unknown) => boolean;
  /** The value is only told: whoever does not see it may still act on what carries it. */
  readonly isNote?: true;
}

export const GATES = z.registry<Gate>();

const always = () => true;

/** A field that only peers with the capability see. Gates a schema of its own: never pass one that is used elsewhere. */
export function gated<Schema extends z.ZodType>(capability: Capability, schema: Schema): Schema {
  GATES.add(schema, { capability, hides: 'field', applies: always });
  return schema;
}

/** A fact that only peers with the capability see, and that nobody needs to know who acts on what carries it. */
export function noted<Schema extends z.ZodType>(capability: Capability, schema: Schema): Schema {
  GATES.add(schema, { capability, hides: 'field', applies: always, isNote: true });
  return schema;
}

/** An object (a variant of a union) that only peers with the capability see at all. */
export function gatedWhole<Schema extends z.ZodType>(capability: Capability, schema: Schema): Schema {
  GATES.add(schema, { capability, hides: 'itself', applies: always });
  return schema;
}

/** A provider id: 1-64 of a-z, 0-9, dash, underscore. What belongs to an open one shows only to peers that know open ones. */
export const ProviderId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'a provider id is 1-64 of a-z 0-9 _ -')
  .register(GATES, {
    capability: 'provider-id.open-v1',
    hides: 'owner',
    applies: (value) => typeof value === 'string' && !LEGACY_PROVIDERS.includes(value),
  });
