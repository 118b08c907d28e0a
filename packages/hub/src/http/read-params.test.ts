import fc from 'fast-check';
import * as z from 'zod';
import { describe, expect, it } from 'vitest';
import { FailureError } from '@roost/protocol';
import { ParamsReader } from './read-params.ts';

const schema = z.strictObject({
  id: z.string().min(1),
  count: z.int().optional(),
  ratio: z.coerce.number().default(1),
  flag: z.boolean().default(false),
  names: z.array(z.string()).optional(),
  scope: z.discriminatedUnion('kind', [z.strictObject({ kind: z.literal('all') })]).optional(),
  kind: z.enum(['a', 'b']).optional(),
});
const reader = new ParamsReader(schema, { method: 'GET', path: '/nodes/{node}/things/{id}' }, ['node']);
const read = (query: string, id = 'x', body?: unknown) =>
  reader.read({ path: { node: 'n', id }, query: new URLSearchParams(query), body });
const refusal = (act: () => unknown): Record<string, unknown> => {
  try {
    act();
  } catch (error) {
    if (error instanceof FailureError) return { code: error.failure.code, ...error.failure.details };
    throw error;
  }
  return { code: null };
};

describe('parameters in a query', () => {
  it('become what the schema has there', () => {
    const { given, params } = read(
      'count=-3&ratio=0.5&flag=true&names=a&names=b&scope={"kind":"all"}&kind=b',
    );
    expect(given).toEqual({
      id: 'x',
      count: -3,
      ratio: 0.5,
      flag: true,
      names: ['a', 'b'],
      scope: { kind: 'all' },
      kind: 'b',
    });
    expect(params).toEqual(given);
  });

  it('that are left out are filled in, but not in what is passed on', () => {
    expect(read('')).toEqual({ given: { id: 'x' }, params: { id: 'x', ratio: 1, flag: false } });
  });

  it('are refused by name when they are not understood', () => {
    for (const [query, field] of [
      ['other=1', 'other'],
      ['id=y', 'id'],
      ['count=1&count=2', 'count'],
      ['count=', 'count'],
      ['count=0x10', 'count'],
      ['count=1e3', 'count'],
      ['count=1.5', 'count'],
      ['flag=1', 'flag'],
      ['scope=all', 'scope'],
      ['scope={"kind":"none"}', 'scope.kind'],
      ['kind=c', 'kind'],
      ['__proto__=1', '__proto__'],
      ['constructor=1', 'constructor'],
      ['node=n', 'node'],
    ])
      expect({ query, ...refusal(() => read(query ?? '')) }).toMatchObject({
        query,
        code: 'invalid-request',
        field,
      });
    expect(refusal(() => read('', ''))).toMatchObject({ field: 'id' });
    expect(refusal(() => read('', 'x', {}))).toMatchObject({ code: 'invalid-request' });
  });

  it('of any kind end in parameters that fit, or in a refusal', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('count', 'flag', 'names', 'scope', 'kind', 'x'), fc.string())),
        (pairs) => {
          const query = new URLSearchParams(pairs).toString();
          const { code } = refusal(() => schema.parse(read(query).params));
          expect([null, 'invalid-request']).toContain(code);
        },
      ),
    );
  });
});

describe('parameters in a body', () => {
  const inBody = new ParamsReader(schema, { method: 'PUT', path: '/things/{id}' });
  const put = (body: unknown, query = '') =>
    inBody.read({ path: { id: 'x' }, query: new URLSearchParams(query), body });

  it('keep their types', () => {
    expect(put({ count: 1, names: ['a'] }).given).toEqual({ id: 'x', count: 1, names: ['a'] });
    expect(put(undefined).given).toEqual({ id: 'x' });
  });

  it('are refused when they are in two places, in the query, or no object', () => {
    expect(refusal(() => put({ id: 'x' }))).toMatchObject({ field: 'id' });
    expect(refusal(() => put({}, 'count=1'))).toMatchObject({ field: 'count' });
    expect(refusal(() => put({ count: '1' }))).toMatchObject({ field: 'count' });
    for (const body of [[], null, 'x', 1])
      expect(refusal(() => put(body))).toMatchObject({ code: 'invalid-request' });
  });
});
