/** What the client library folds from events is what the node shows, across a restart of the node. */
import { expect, test } from 'vitest';
import { followState, nodeSocketPath, connectNode, type NodeConnection } from '@roost/client';
import type { NodeSnapshot, StateView } from '@roost/protocol';
import { connectTo, spawnCommand } from '../support/node-client.ts';
import { RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

type Shown = Pick<NodeSnapshot, 'sequence' | 'workspaces' | 'sessions' | 'records' | 'controller'>;

const values = <Value>(things: ReadonlyMap<unknown, { readonly value: Value }>) =>
  [...things.values()].map(({ value }) => value);
const byId = <One extends { readonly id: string }>(list: readonly One[]) =>
  [...list].sort((one, other) => (one.id < other.id ? -1 : 1));
const mirrored = (state: StateView): Shown => ({
  sequence: state.sequence,
  controller: state.controller,
  workspaces: byId(values(state.workspaces)),
  sessions: byId(values(state.sessions)),
  records: byId(values(state.records)),
});

async function snapshotOf(connection: NodeConnection): Promise<Shown> {
  const { sequence, controller, workspaces, sessions, records } = await connection.request(
    'node.snapshot',
    {},
  );
  return {
    sequence,
    controller,
    workspaces: byId(workspaces),
    sessions: byId(sessions),
    records: byId(records),
  };
}

test('a mirror holds what the snapshot shows, also after the node was killed', async () => {
  await using roost = new RoostHome();
  await roost.ok(['ls']);
  const end = new AbortController();
  const followed: { state?: StateView; failed?: unknown } = {};
  const client = { name: 'mirror', version: '0' };
  const connect = () => connectNode({ socketPath: nodeSocketPath(roost.home), client });
  const mirror = (async () => {
    for await (const state of followState({ connect, signal: end.signal })) followed.state = state;
  })().catch((error: unknown) => (followed.failed = error));

  const work = async (connection: NodeConnection, name: string) => {
    const kept = await spawnCommand(connection, roost.work, ['sleep', '600'], { name });
    const gone = await spawnCommand(connection, roost.root, ['true'], { name: `${name}-gone` });
    await connection.request('session.wait', { sessionId: gone.id, waitMs: 10_000 });
    await connection.request('session.remove', {
      workspaceId: gone.workspaceId,
      sessionId: gone.id,
      generation: gone.generation,
    });
    return kept;
  };
  const agree = async (connection: NodeConnection) => {
    let [shown, held]: [Shown | undefined, Shown | undefined] = [undefined, undefined];
    await waitFor('the mirror to catch up', async () => {
      shown = await snapshotOf(connection);
      held = followed.state === undefined ? undefined : mirrored(followed.state);
      return held?.sequence === shown.sequence;
    });
    expect(held).toEqual(shown);
  };

  const first = await connectTo(roost);
  const kept = await work(first, 'one');
  await agree(first);
  process.kill(await roost.nodePid(), 'SIGKILL');
  await roost.ok(['ls']);
  const second = await connectTo(roost);
  await work(second, 'two');
  await agree(second);
  expect([...(followed.state?.sessions.keys() ?? [])]).toContain(kept.id);
  expect(followed.failed).toBeUndefined();
  for (const connection of [first, second]) connection.close();
  end.abort();
  await mirror;
});
