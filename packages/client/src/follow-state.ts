/**
 * A mirror of the node: a snapshot, and the events after it folded in. It survives the node and lost connections, and begins
 * anew from a snapshot when the journal lost what was between. The first connection has to succeed.
 */
import { applyEvent, stateAt, type NodeSnapshot, type StateView } from '@roost/protocol';
import type { NodeConnection } from './connection.ts';
import { followEventsOver, type FollowOptions } from './follow-events.ts';
import { isPassing, Reconnecting, RetryPause } from './retry.ts';

/** The state after the snapshot and after each event: the same object until a new snapshot takes its place. */
export async function* followState(
  options: Pick<FollowOptions, 'connect' | 'signal'>,
): AsyncGenerator<StateView, void, void> {
  const { connect, signal } = options;
  const connections = new Reconnecting(connect);
  while (!signal.aborted) {
    const snapshot = await takeSnapshot(connections, signal);
    if (snapshot === null) return;
    const { spawnProfiles = [], worktreeProfiles = [] } = snapshot.launchInventory;
    const { worktrees = [] } = snapshot;
    const state = stateAt({ ...snapshot, spawnProfiles, worktreeProfiles, worktrees });
    yield state;
    // Whatever was last in the journal, this start of the node wrote it: its first event is its own start.
    const after = { sequence: snapshot.sequence, incarnation: snapshot.incarnation };
    for await (const item of followEventsOver(connections, after, signal)) {
      if ('kind' in item) break;
      if (applyEvent(state, item)) yield state;
    }
  }
}

/** null when the signal aborts. */
async function takeSnapshot(
  connections: Reconnecting<NodeConnection>,
  signal: AbortSignal,
): Promise<NodeSnapshot | null> {
  const pause = new RetryPause(signal);
  // A function: it may change during every wait.
  const isOver = (): boolean => signal.aborted;
  while (!isOver()) {
    const connection = await connections.attempt(signal);
    try {
      if (connection !== null) return await connection.request('node.snapshot', {}, { signal });
    } catch (error) {
      if (isOver()) return null;
      if (!isPassing(error)) throw error;
    } finally {
      connection?.close();
    }
    await pause.wait();
  }
  return null;
}
