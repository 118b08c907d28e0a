import { expect, test } from 'vitest';
import { readRpcMessage, RpcCalls } from './json-rpc.ts';

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
  const calls = new RpcCalls<{ method: string }>((line) => lines.push(line));
  calls.request({ method: 'a' }, {});
  calls.request({ method: 'b' }, {});
  expect(calls.take(1)).toEqual({ method: 'a' });
  expect(calls.take(1)).toBeNull();
  const next = new RpcCalls<{ method: string }>((line) => lines.push(line), calls.state());
  next.request({ method: 'c' }, {});
  expect(next.take(2)).toEqual({ method: 'b' });
  expect(next.take(3)).toEqual({ method: 'c' });
  expect(next.take('3')).toBeNull();
  expect(lines.map((line) => (JSON.parse(line) as { id: number }).id)).toEqual([1, 2, 3]);
});
