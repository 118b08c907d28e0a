import { expect, it, vi } from 'vitest';
import { FailureError, NodeId } from '@roost/protocol';
import { FailedCalls } from './failed-calls.ts';

const NODE = NodeId.parse('a'.repeat(16));

it('counts calls by how they failed, and tells of each node now and then', () => {
  const log = vi.fn<(message: string, facts: Readonly<Record<string, unknown>>) => void>();
  let now = 0;
  const calls = new FailedCalls(() => now, log);
  const untold = () => log.mock.calls.map(([, facts]) => facts.untold);
  calls.failed(NODE, new FailureError('unauthorized'));
  calls.failed(NODE, new FailureError('connection-lost'));
  calls.failed(NODE, new FailureError('unauthorized'));
  calls.failed(NODE, new Error('a fault of our own'));
  expect([...calls.counts]).toEqual([
    ['unauthorized', 2],
    ['connection-lost', 1],
    ['internal-error', 1],
  ]);
  expect(untold()).toEqual([0]);
  now = 60_000;
  calls.failed(NODE, new FailureError('unauthorized'));
  expect(untold()).toEqual([0, 3]);
  // One that is enrolled anew under that id is another one.
  calls.forget(NODE);
  calls.failed(NODE, new FailureError('unauthorized'));
  expect(untold()).toEqual([0, 3, 0]);
});
