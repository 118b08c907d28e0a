// Schemas of an OpenAPI document: those that have a name in the protocol stand among its components, all others where they are used.
import * as z from 'zod';
import * as protocol from '@roost/protocol';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

export interface InputObject {
  readonly properties: Readonly<Record<string, Json>>;
  readonly required: readonly string[];
  /** What else the schema says, such as its description. */
  readonly rest: JsonObject;
}

export class Schemas {
  readonly #names = z.registry<{ id: string }>();
  readonly #components = new Map<string, Json>();

  constructor() {
    for (const [name, value] of Object.entries(protocol))
      if (value instanceof z.ZodType && /^[A-Z]/.test(name)) this.#names.add(value, { id: name });
  }

  of(type: z.ZodType, io: 'input' | 'output'): Json {
    const {
      $defs = {},
      $schema: _,
      ...schema
    } = z.toJSONSchema(type, {
      io,
      unrepresentable: 'any',
      metadata: this.#names,
      target: 'draft-2020-12',
    }) as { $defs?: Record<string, Json>; $schema?: string } & Record<string, Json>;
    // What is left out may be filled in: a schema is another one on its way in.
    const nameOf = (id: string) => (io === 'input' ? `${id}Input` : id);
    const own = typeof schema.id === 'string' ? schema.id : undefined;
    for (const [id, definition] of Object.entries($defs)) this.#put(nameOf(id), renamed(definition, nameOf));
    const made = renamed(schema, nameOf);
    if (own === undefined) return made;
    this.#put(nameOf(own), made);
    return { $ref: `#/components/schemas/${nameOf(own)}` };
  }

  objectOf(type: z.ZodType): InputObject {
    let schema = this.of(type, 'input');
    for (let ref = refOf(schema); ref !== null; ref = refOf(schema)) schema = this.#components.get(ref) ?? {};
    const {
      properties = {},
      required = [],
      type: _,
      additionalProperties: __,
      ...rest
    } = schema as Record<string, Json>;
    return { properties: properties as Record<string, Json>, required: required as string[], rest };
  }

  all(): JsonObject {
    return Object.fromEntries([...this.#components].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  #put(name: string, schema: Json): void {
    this.#components.set(name, schema);
  }
}

function refOf(schema: Json): string | null {
  const ref = typeof schema === 'object' && schema !== null && '$ref' in schema ? schema.$ref : null;
  return typeof ref === 'string' ? ref.replace('#/components/schemas/', '') : null;
}

function renamed(schema: Json, nameOf: (id: string) => string): Json {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => {
      if (key === 'id' && typeof value === 'string') return undefined;
      if (key === '$ref' && typeof value === 'string')
        return value.replace(/^#\/\$defs\/(.+)$/, (_, id: string) => `#/components/schemas/${nameOf(id)}`);
      return value;
    }),
  ) as Json;
}
