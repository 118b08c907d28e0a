import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Caller } from './control/handlers.ts';
import { failureOf } from './node-for-test.ts';
import { nodeOperations, type NodeScene } from './node-operations.ts';
import { StopBench } from './sessions/stopping-for-test.ts';
import { findSession, listSessions } from './sessions/session-table.ts';

let bench: StopBench;
let stopsAsked: number;
beforeEach(() => {
  bench = new StopBench();
  stopsAsked = 0;
});
afterEach(() => bench.close());

async function shutDown(): Promise<unknown> {
  const scene = { ...bench.scene, paths: {}, identity: {}, requestStop: () => (stopsAsked += 1) };
  const operations = nodeOperations(scene as unknown as NodeScene);
  return operations['node.shutdown']({ stopSessions: true }, {} as Caller);
}

/** The keeper ends sessions; with the end of each of the first ones, another comes to run. */
function followedBy(more: number): void {
  let left = more;
  bench.stop = (id) => {
    const session = findSession(bench.store.sql, id);
    if (session !== null) bench.change(session.id, { status: 'exited' });
    if (left > 0) bench.runningSession(`more-${left}`);
    left -= 1;
    return Promise.resolve({
      state: { sessionId: id, exit: null },
      forced: false,
      processesEnded: 1,
    });
  };
}

it('a shutdown also ends sessions that come meanwhile', async () => {
  bench.runningSession('first');
  followedBy(2);
  expect(await shutDown()).toEqual({ stoppedSessions: 3 });
  expect(stopsAsked).toBe(1);
});

it('a shutdown is refused while sessions go on coming, and the node runs on', async () => {
  bench.runningSession('first');
  followedBy(3);
  expect(await failureOf(shutDown())).toBe('stop-incomplete');
  expect(stopsAsked).toBe(0);
  const running = listSessions(bench.store.sql, false, -1);
  expect(running.map(({ name }) => name)).toEqual(['more-1']);
});
