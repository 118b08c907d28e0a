// Parameters of an operation from path, query and body. Text of path and query becomes what the operation's schema has there; what it is
// made into then passes that schema, as everything does.
import * as z from 'zod';
import { FailureError, type HttpRoute } from '@roost/protocol';

export interface HttpInput {
  readonly path: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** undefined: there was none. */
  readonly body: unknown;
}

type Form = 'text' | 'number' | 'boolean' | 'texts' | 'json';

/** How the parameters of one route are read; made once. */
export class ParamsReader {
  readonly #schema: z.ZodType;
  readonly #inPath: ReadonlySet<string>;
  /** Of the parameters in path and query. */
  readonly #forms: ReadonlyMap<string, Form>;
  readonly #hasBody: boolean;

  /** `outside`: names in the path that are no parameters of the operation. */
  constructor(schema: z.ZodType, { method, path }: HttpRoute, outside: readonly string[] = []) {
    this.#schema = schema;
    this.#inPath = new Set(pathNames(path).filter((name) => !outside.includes(name)));
    this.#hasBody = hasBody(method);
    const forms = formsOf(schema);
    this.#forms = this.#hasBody ? new Map([...forms].filter(([name]) => this.#inPath.has(name))) : forms;
  }

  /** `given`: without what the schema fills in. @throws FailureError: invalid-request, with where and what. */
  read(input: HttpInput): { readonly given: unknown; readonly params: unknown } {
    const given: Record<string, unknown> = {
      ...(this.#hasBody ? bodyOf(input.body) : this.#query(input.query)),
    };
    if (this.#hasBody && input.query.size > 0)
      throw invalid([...input.query.keys()][0] ?? '', 'it belongs into the body');
    if (!this.#hasBody && input.body !== undefined) throw invalid('', 'there must be no body');
    for (const name of this.#inPath) {
      if (Object.hasOwn(given, name)) throw invalid(name, 'it is in the path already');
      given[name] = this.#value(name, [input.path[name] ?? '']);
    }
    const parsed = this.#schema.safeParse(given);
    if (parsed.success) return { given, params: parsed.data };
    const [issue] = parsed.error.issues;
    throw invalid(issue?.path.join('.') ?? '', issue?.message ?? 'not understood');
  }

  #query(query: URLSearchParams): Record<string, unknown> {
    return Object.fromEntries(
      [...new Set(query.keys())].map((name) => [name, this.#value(name, query.getAll(name))]),
    );
  }

  #value(name: string, texts: readonly string[]): unknown {
    const form = this.#forms.get(name);
    if (form === undefined) throw invalid(name, 'there is no such parameter');
    if (form === 'texts') return texts;
    const [text = '', ...others] = texts;
    if (others.length > 0) throw invalid(name, 'it is there more than once');
    if (form === 'text') return text;
    if (form === 'number') {
      // What Number() takes besides: blanks, hexadecimal, the empty text.
      if (!/^-?\d{1,16}(\.\d{1,16})?$/.test(text)) throw invalid(name, 'not a number');
      return Number(text);
    }
    if (form === 'boolean') {
      if (text !== 'true' && text !== 'false') throw invalid(name, 'not true or false');
      return text === 'true';
    }
    try {
      return JSON.parse(text);
    } catch {
      throw invalid(name, 'not JSON');
    }
  }
}

export function hasBody(method: HttpRoute['method']): boolean {
  return method !== 'GET' && method !== 'DELETE';
}

/** Names in braces. */
export function pathNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].flatMap(([, name]) => name ?? []);
}

export function formsOf(schema: z.ZodType): ReadonlyMap<string, Form> {
  const { properties } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return new Map(Object.entries(properties ?? {}).map(([name, property]) => [name, formOf(property)]));
}

function formOf(property: unknown): Form {
  if (typeof property !== 'object' || property === null) return 'json';
  const { type, items } = property as { type?: string; items?: unknown };
  if (type === 'string') return 'text';
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'boolean') return 'boolean';
  return type === 'array' && formOf(items) === 'text' ? 'texts' : 'json';
}

function bodyOf(body: unknown): Record<string, unknown> {
  if (body === undefined) return {};
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalid('', 'the body is not a JSON object');
  return { ...body };
}

function invalid(field: string, reason: string): FailureError {
  return new FailureError('invalid-request', field === '' ? { reason } : { field, reason });
}
