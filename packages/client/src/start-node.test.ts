import { expect, test } from 'vitest';
import { nodeEnvironment } from './start-node.ts';

test('a node gets the environment of whoever starts it, without the mark of a session, and threads of its own for files', () => {
  const { UV_THREADPOOL_SIZE: threads, ...rest } = nodeEnvironment({ PATH: '/bin', ROOST_SESSION_ID: 'x' });
  expect(rest).toEqual({ PATH: '/bin', ROOST_PROCESS: 'node' });
  // Beyond the slots for workspaces.
  expect(Number(threads)).toBeGreaterThan(4);
  expect(nodeEnvironment({ UV_THREADPOOL_SIZE: '32' }).UV_THREADPOOL_SIZE).toBe('32');
});
