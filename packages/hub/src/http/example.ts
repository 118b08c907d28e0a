// A value that a JSON schema describes, for documents: the shortest that fits.
import type { Json, JsonObject } from './openapi-schemas.ts';

/** Values that say more than the shortest would, by the name of their schema. */
const EXAMPLES: Readonly<Record<string, Json>> = {
  AbsolutePath: '/home/ann/shop',
  BranchName: 'fix-totals',
  IdempotencyKey: 'launch-1',
  InteractionId: '0123456789abcdef01234567',
  LeaseId: 'wt-0123456789abcdef',
  NodeName: 'laptop',
  NodeSelector: 'laptop',
  ProfileId: 'reviewer',
  ProviderId: 'claude',
  ProviderSession: { key: 'session-id', id: 'a1b2c3' },
  RepositoryPath: 'src/main.ts',
  Revision: '1',
  SessionName: 'reviewer',
  SessionSelector: 'reviewer',
  TaskId: 'task-0123456789abcdef01234567',
  UserName: 'ann',
  WorkspaceId: 'shop',
};
/** The same by the name of the property, where its schema has none. */
const BY_PROPERTY: Readonly<Record<string, Json>> = {
  after: 0,
  code: 'CODE',
  columns: 120,
  deadlineMs: 20_000,
  label: 'nightly',
  offset: 0,
  rows: 40,
  selector: 'reviewer',
  targetRoot: '/home/ann/shop-fix-totals',
  text: 'explain the failing test',
  waitMs: 1_000,
};
/** Hexadecimal digits, as patterns tell how many. */
const HEX = /^\^\[0-9a-f\]\{(?:\d+,)?(\d+)\}\$$/;

/** Of a property or a parameter. */
export function exampleFor(name: string, schema: Json, named: Readonly<Record<string, Json>>): Json {
  const isNamed = typeof schema === 'object' && schema !== null && '$ref' in schema;
  const ofName = isNamed || hasPattern(schema) ? undefined : BY_PROPERTY[name];
  return ofName ?? exampleOf(schema, named);
}

/** What has one is told by it. */
function hasPattern(schema: Json): boolean {
  return typeof schema === 'object' && schema !== null && 'pattern' in schema;
}

/** `named`: the schemas that others refer to, by name. */
export function exampleOf(schema: Json, named: Readonly<Record<string, Json>>): Json {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return null;
  const facts = schema as Readonly<Record<string, Json>>;
  const { type, default: byDefault, const: constant, enum: values, minimum, items, minItems } = facts;
  if (typeof facts.$ref === 'string') return ofName(facts.$ref.split('/').at(-1) ?? '', named);
  if (constant !== undefined) return constant;
  if (byDefault !== undefined) return byDefault;
  if (Array.isArray(values)) return (values as readonly Json[])[0] ?? null;
  const choices = facts.anyOf ?? facts.oneOf ?? facts.allOf;
  if (Array.isArray(choices)) return exampleOf((choices as readonly Json[])[0] ?? null, named);
  switch (type) {
    case 'object':
      return ofObject(facts, named);
    case 'array':
      return typeof minItems === 'number' && minItems > 0 ? [exampleOf(items ?? null, named)] : [];
    case 'integer':
    case 'number':
      return typeof minimum === 'number' ? Math.max(minimum, 1) : 1;
    case 'boolean':
      return true;
    default:
      return ofText(facts);
  }
}

function ofName(name: string, named: Readonly<Record<string, Json>>): Json {
  return EXAMPLES[name.replace(/Input$/, '')] ?? exampleOf(named[name] ?? null, named);
}

/** With what is required, and nothing else. */
function ofObject(
  { properties = {}, required = [] }: Readonly<Record<string, Json>>,
  named: Readonly<Record<string, Json>>,
): Json {
  const needed = required as readonly Json[];
  return Object.fromEntries(
    Object.entries(properties as JsonObject)
      .filter(([name]) => needed.includes(name))
      .map(([name, property]) => [name, exampleFor(name, property, named)]),
  );
}

function ofText({ pattern, format, contentEncoding }: Readonly<Record<string, Json>>): string {
  if (format === 'uri') return 'https://hub.example.org';
  if (contentEncoding === 'base64') return 'bHMK';
  const digits = typeof pattern === 'string' ? HEX.exec(pattern)?.[1] : undefined;
  return digits === undefined ? 'text' : '0123456789abcdef'.repeat(8).slice(0, Number(digits));
}
