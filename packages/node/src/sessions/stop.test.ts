import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  CAPABILITIES,
  FailureError,
  Projection,
  type Capability,
  type SessionAddress,
} from '@roost/protocol';
import type { Caller } from '../control/handlers.ts';
import { failureOf, waitFor } from '../node-for-test.ts';
import { sessionOperations, type SessionScene } from './sessions.ts';
import { existingSession, stopSession } from './stop.ts';
import { StopBench } from './stopping-for-test.ts';

const caller = { projection: new Projection(Object.keys(CAPABILITIES) as Capability[]) } as Caller;

let bench: StopBench;
let address: SessionAddress;
beforeEach(() => {
  bench = new StopBench();
  address = bench.runningSession('coder');
});
afterEach(() => bench.close());

const state = () => {
  const { status, stop_requested: requested } = bench.row(address.sessionId);
  return [status, requested];
};
const stop = (force: boolean) =>
  stopSession(bench.scene, {
    sessionId: address.sessionId,
    locate: (sql) => existingSession(sql, address.sessionId),
    force,
    graceMs: 0,
  });

it('a stop that is refused leaves a session that runs and was not asked to end', async () => {
  bench.stop = () => Promise.reject(new FailureError('stop-incomplete'));
  expect(await failureOf(stop(false))).toBe('stop-incomplete');
  expect(state()).toEqual(['running', 0]);
});

it('a gentle stop that is refused changes nothing under a forced one that goes on', async () => {
  const refusals: (() => void)[] = [];
  bench.stop = () =>
    new Promise((_, reject) => refusals.push(() => reject(new FailureError('stop-incomplete'))));
  const gentle = failureOf(stop(false));
  const forced = failureOf(stop(true));
  await waitFor(() => refusals.length === 2, 'both to be asked for');
  refusals[0]?.();
  expect(await gentle).toBe('stop-incomplete');
  expect(state()).toEqual(['stopping', 1]);
  refusals[1]?.();
  expect(await forced).toBe('stop-incomplete');
  expect(state()).toEqual(['running', 0]);
});

it.each(['session.stop', 'session.remove'] as const)(
  '%s does nothing to a session that became another run while it was waited for',
  async (operation) => {
    if (operation === 'session.remove') bench.change(address.sessionId, { status: 'exited' });
    bench.lifecycle.spawning.set(
      address.sessionId,
      Promise.resolve().then(() => {
        bench.change(address.sessionId, { generation: 2 });
      }),
    );
    const scene = { ...bench.scene, removals: { clean: () => Promise.resolve() } } as unknown as SessionScene;
    const operations = sessionOperations(scene);
    const asked =
      operation === 'session.stop'
        ? operations[operation]({ ...address, force: true, graceMs: 0 }, caller)
        : operations[operation](address, caller);
    expect(await failureOf(Promise.resolve(asked))).toBe('stale-generation');
    expect(bench.row(address.sessionId)).toMatchObject({ generation: 2, stop_requested: 0 });
  },
);
