import { expect, test } from 'vitest';
import { readRpcMessage, RpcCalls, type RpcCallsState, type RpcError, type RpcId } from './json-rpc.ts';

test.each([
  ['{"id":1,"method":"a","params":{}}', 'request'],
  ['{"id":"x","method":"a"}', 'request'],
  ['{"method":"a"}', 'notification'],
  ['{"id":1,"result":null}', 'result'],
  ['{"id":1,"error":{"code":-32000}}', 'error'],
  ['{"id":1}', undefined],
  ['{"id":1.5,"method":"a"}', undefined],
  ['{"id":{},"method":"a"}', undefined],
  ['{"id":1,"error":"bad"}', undefined],
  ['[]', undefined],
  ['null', undefined],
  ['{"id":', undefined],
])('%s is %s', (line, kind) => {
  expect(readRpcMessage(line)?.kind).toBe(kind);
});

test('a response is to one request, and ids go on counting after a crash', () => {
  const lines: string[] = [];
  const answered: unknown[] = [];
  const make = (state?: RpcCallsState<{ method: string }>) =>
    new RpcCalls<{ method: string }>((line) => lines.push(line), state);
  const handler = {
    notification: (method: string) => method === 'known',
    request: (id: RpcId, method: string) => answered.push({ id, method }),
    result: ({ method }: { method: string }, result: unknown) => answered.push({ method, result }),
    error: ({ method }: { method: string }, { code }: RpcError) => answered.push({ method, code }),
  };
  const calls = make();
  calls.request({ method: 'a' }, {});
  calls.request({ method: 'b' }, {});
  expect(calls.receive('{"id":1,"result":true}', handler)).toBe(true);
  expect(calls.receive('{"id":1,"result":true}', handler)).toBe(true);
  const next = make(calls.state());
  next.request({ method: 'c' }, {});
  for (const line of ['{"id":2,"result":null}', '{"id":"3","result":0}', '{"id":3,"error":{"code":-1}}'])
    expect(next.receive(line, handler)).toBe(true);
  expect(next.receive('{"id":"x","method":"ask"}', handler)).toBe(true);
  expect(next.receive('{"method":"known"}', handler)).toBe(true);
  expect(next.receive('{"method":"strange"}', handler)).toBe(false);
  expect(next.receive('nothing', handler)).toBe(false);
  expect(answered).toEqual([
    { method: 'a', result: true },
    { method: 'b', result: null },
    { method: 'c', code: -1 },
    { id: 'x', method: 'ask' },
  ]);
  expect(lines.map((line) => (JSON.parse(line) as { id: number }).id)).toEqual([1, 2, 3]);
});
