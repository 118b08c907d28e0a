// A value that a JSON schema describes, for documents: the shortest that says what belongs where.
import type { Json, JsonObject } from './openapi.ts';

export function exampleOf(schema: Json): Json {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return null;
  const {
    type,
    properties,
    required = [],
    default: byDefault,
    const: constant,
    enum: values,
    anyOf,
    oneOf,
    pattern,
    $ref,
  } = schema as Readonly<Record<string, Json>>;
  if (constant !== undefined) return constant;
  if (byDefault !== undefined) return byDefault;
  if (Array.isArray(values)) return (values as readonly Json[])[0] ?? null;
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices)) return exampleOf((choices as readonly Json[])[0] ?? null);
  if (typeof $ref === 'string')
    return `<${
      $ref
        .split('/')
        .at(-1)
        ?.replace(/Input$/, '') ?? ''
    }>`;
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries((properties ?? {}) as JsonObject)
          .filter(([name]) => (required as readonly Json[]).includes(name))
          .map(([name, property]) => [name, exampleOf(property)]),
      );
    case 'array':
      return [];
    case 'integer':
    case 'number':
      return 1;
    case 'boolean':
      return true;
    default:
      return typeof pattern === 'string' && pattern.includes('[0-9a-f]{16}') ? '0123456789abcdef' : 'text';
  }
}
