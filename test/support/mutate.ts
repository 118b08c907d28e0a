/** Two ways to spoil what was valid: a value inside its JSON, found by fast-check, and the bytes of its text. */
import fc from 'fast-check';

/** Numbers from 0 to below 1, the same for the same seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

const EDGES = fc.constantFrom<Json>(
  -1,
  0,
  0.5,
  2 ** 31,
  2 ** 53,
  1e308,
  '',
  '\0',
  '\u001b[31m',
  '\ud800',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'x'.repeat(5_000),
  [],
  {},
  null,
  true,
);
const NAMES = ['__proto__', 'constructor', 'id', 'kind', 'lease', 'params', 'toString', 'sessionId'];
const EDIT = fc.record({
  at: fc.nat(),
  kind: fc.oneof(
    { weight: 6, arbitrary: fc.constant('tweak' as const) },
    { weight: 4, arbitrary: fc.constantFrom('replace' as const, 'add' as const) },
    { weight: 2, arbitrary: fc.constantFrom('remove' as const, 'wrap' as const, 'repeat' as const) },
  ),
  name: fc.oneof(fc.constantFrom(...NAMES), fc.string()),
  value: fc.oneof(EDGES, fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>),
});
type Edit = typeof EDIT extends fc.Arbitrary<infer Value> ? Value : never;

/**
 * Values near to the given ones: one to three places tweaked, replaced, removed, added, wrapped or repeated. `kept` names fields at
 * the top that stay mostly as they are, so that most of what comes out gets further than the first look at it.
 */
export function nearby(corpus: readonly Json[], kept: readonly string[] = []): fc.Arbitrary<Json> {
  const edits = fc.oneof(
    { weight: 2, arbitrary: fc.array(EDIT, { minLength: 1, maxLength: 1 }) },
    { weight: 1, arbitrary: fc.array(EDIT, { minLength: 2, maxLength: 3 }) },
  );
  const spare = fc.oneof(
    { weight: 9, arbitrary: fc.constant(kept) },
    { weight: 1, arbitrary: fc.constant([]) },
  );
  return fc
    .record({ base: fc.nat(corpus.length - 1), edits, spare })
    .map(({ base, edits: chosen, spare: spared }) => {
      const original = corpus[base] ?? null;
      let value = structuredClone(original);
      for (const edit of chosen) value = applyEdit(value, edit, spared);
      return value;
    });
}

interface Place {
  readonly owner: Json[] | Record<string, Json>;
  readonly name: string;
}

function applyEdit(root: Json, edit: Edit, spared: readonly string[]): Json {
  // Around the root there is a place, too: the whole can be replaced, rarely.
  const holder: Record<string, Json> = { root };
  const places = placesOf(holder).filter(
    ({ owner, name }) =>
      spared.length === 0 || (owner !== holder && !(owner === root && spared.includes(name))),
  );
  const place = places[edit.at % places.length];
  if (place === undefined) return root;
  const owner = place.owner as Record<string, Json>;
  const held = owner[place.name] ?? null;
  const { name } = edit;
  // A value of its own each time: it may be put into itself otherwise.
  const value = structuredClone(edit.value);
  switch (edit.kind) {
    case 'tweak':
      set(owner, place.name, tweak(held, edit.at));
      break;
    case 'replace':
      set(owner, place.name, value);
      break;
    case 'remove':
      if (owner !== holder) Reflect.deleteProperty(owner, place.name);
      break;
    case 'add':
      if (typeof held === 'object' && held !== null && !Array.isArray(held)) set(held, name, value);
      else if (!Array.isArray(owner)) set(owner, name, value);
      break;
    case 'wrap':
      set(owner, place.name, [held]);
      break;
    case 'repeat':
      set(
        owner,
        place.name,
        Array.from({ length: 20 }, () => structuredClone(held)),
      );
  }
  return holder.root ?? null;
}

/** Something of the same type, and close by. */
function tweak(value: Json, by: number): Json {
  switch (typeof value) {
    case 'boolean':
      return !value;
    case 'number':
      return value + ((by % 3) - 1 || 7);
    case 'string': {
      const at = by % (value.length + 1);
      return by % 2 === 0
        ? value.slice(0, at) + value.slice(at + 1)
        : `${value.slice(0, at)}a${value.slice(at)}`;
    }
    default:
      return Array.isArray(value) ? value.slice(1) : value;
  }
}

/** `__proto__` becomes a name like any other, as it does in what a peer sends. */
function set(owner: Record<string, Json>, name: string, value: Json): void {
  Object.defineProperty(owner, name, { value, enumerable: true, configurable: true, writable: true });
}

function placesOf(value: Json): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.keys(value).flatMap((name) => [
    { owner: value, name },
    ...placesOf((value as Record<string, Json>)[name] ?? null),
  ]);
}

/** One to four changes: bits flipped, bytes put in, taken out, doubled, cut off, or taken from another text. */
export function spoilBytes(bytes: Uint8Array, other: Uint8Array, random: () => number): Buffer {
  let spoiled = Buffer.from(bytes);
  const below = (limit: number) => Math.floor(random() * limit);
  for (let times = 1 + below(4); times > 0; times -= 1) {
    const at = below(spoiled.length + 1);
    const until = Math.min(spoiled.length, at + 1 + below(12));
    const [before, middle, after] = [
      spoiled.subarray(0, at),
      spoiled.subarray(at, until),
      spoiled.subarray(until),
    ];
    switch (below(8)) {
      case 7: {
        // Another letter or digit: what was text stays text.
        const letter = spoiled[at] ?? 0;
        if (/[0-9a-z]/i.test(String.fromCharCode(letter))) spoiled[at] = 0x30 + below(10);
        break;
      }
      case 0:
        if (at < spoiled.length) spoiled[at] = (spoiled[at] ?? 0) ^ (1 << below(8));
        break;
      case 1:
        spoiled = Buffer.concat([
          before,
          Buffer.from(Array.from({ length: 1 + below(6) }, () => below(256))),
          middle,
          after,
        ]);
        break;
      case 2:
        spoiled = Buffer.concat([before, after]);
        break;
      case 3:
        spoiled = Buffer.concat([before, middle, middle, after]);
        break;
      case 4:
        // A number becomes a bigger one; a string a number that is none.
        spoiled = Buffer.concat([before, Buffer.from('9'.repeat(1 + below(24))), after]);
        break;
      case 5: {
        const from = below(other.length + 1);
        spoiled = Buffer.concat([before, other.subarray(from, from + 1 + below(64)), after]);
        break;
      }
      default:
        if (below(4) === 0) spoiled = Buffer.from(before);
    }
  }
  return spoiled;
}
