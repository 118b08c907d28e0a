// Ending a session's whole process tree. No lock is taken, so a stop overtakes everything, also an earlier and gentler stop. Of a
// session that has ended, what its root left behind is ended.
import { FailureError, type Result, type SessionId } from '@roost/protocol';
import type { KeeperPool } from '../keepers/keeper-pool.ts';
import type { Sql } from '@roost/storage';
import type { Store } from '../store/store.ts';
import type { SessionLifecycle } from './lifecycle.ts';
import { endLeftovers } from './leftovers.ts';
import { changeSession, findSession, isLive, sessionView, type SessionRow } from './session-table.ts';

/** Milliseconds beyond the grace: killing, and collecting the last output. */
const STOP_EXTRA_MS = 30_000;

export interface StopScene {
  readonly store: Store;
  readonly keepers: Pick<KeeperPool, 'get' | 'child'>;
  readonly lifecycle: Pick<SessionLifecycle, 'spawning' | 'stopping' | 'settle' | 'changed' | 'write'>;
}

interface StopRequest {
  readonly sessionId: SessionId;
  /** The session as it is meant; asked again after every wait. @throws FailureError */
  readonly locate: (sql: Sql) => SessionRow;
  readonly force: boolean;
  /** Milliseconds. */
  readonly graceMs: number;
}

export async function stopSession(
  { store, keepers, lifecycle }: StopScene,
  { sessionId, locate, force, graceMs }: StopRequest,
): Promise<Result<'session.stop'>> {
  const find = () => existingSession(store.sql, sessionId);
  const view = () => {
    const row = find();
    return sessionView(row, keepers.child(row.keeper_id, sessionId));
  };
  const grace = force ? 0 : graceMs;

  locate(store.sql);
  // One that is being started is stopped as soon as it runs.
  if (lifecycle.spawning.has(sessionId)) await lifecycle.settle(sessionId);
  const row = locate(store.sql);
  if (!isLive(row)) {
    const outcome = await endLeftovers(row, grace);
    if (outcome !== null && outcome.survivors.length > 0)
      throw new FailureError('stop-incomplete', { sessionId });
    return { session: view(), forced: outcome?.forced ?? false, processesEnded: outcome?.ended ?? 0 };
  }

  const link = keepers.get(row.keeper_id);
  if (link === null) throw new FailureError('keeper-unavailable', { sessionId });
  if (!link.isConnected) throw link.unavailable();
  store.transact((transaction) => {
    changeSession(transaction, locate(transaction.sql), { status: 'stopping', stop_requested: 1 });
  });
  lifecycle.stopping.set(sessionId, (lifecycle.stopping.get(sessionId) ?? 0) + 1);
  let isRefused = false;
  try {
    const { state, forced, processesEnded } = await link.call(
      'stop',
      { sessionId, graceMs: grace },
      grace + STOP_EXTRA_MS,
    );
    lifecycle.changed(link, link.learn(state));
    await lifecycle.settle(sessionId);
    return { session: view(), forced, processesEnded };
  } catch (error) {
    if (error instanceof FailureError && error.failure.code === 'unknown-session') {
      // Ended, stored and released meanwhile; or never started, which a fresh look at the keeper's children tells.
      await lifecycle.settle(sessionId);
      if (!isLive(find())) return { session: view(), forced: false, processesEnded: 0 };
      link.reconnect();
      throw link.unavailable(error);
    }
    isRefused = error instanceof FailureError && error.failure.code !== 'keeper-unavailable';
    throw error;
  } finally {
    const others = (lifecycle.stopping.get(sessionId) ?? 1) - 1;
    if (others > 0) lifecycle.stopping.set(sessionId, others);
    else lifecycle.stopping.delete(sessionId);
    if (isRefused) goOn(lifecycle, sessionId);
  }
}

/** A stop was refused: the session runs on, unless another stop of it is under way. */
function goOn(lifecycle: StopScene['lifecycle'], sessionId: SessionId): void {
  lifecycle.write((transaction) => {
    if (lifecycle.stopping.has(sessionId)) return;
    const row = findSession(transaction.sql, sessionId);
    if (row?.status === 'stopping') changeSession(transaction, row, { status: 'running', stop_requested: 0 });
  });
}

/** @throws FailureError: unknown-session. */
export function existingSession(sql: Sql, sessionId: SessionId): SessionRow {
  const row = findSession(sql, sessionId);
  if (row === null) throw new FailureError('unknown-session', { sessionId });
  return row;
}
