/** However writers and readers interleave over their connections, nobody is told of an event that is not stored. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Daemon } from '../daemon.ts';
import { startTestNode, TestClient, TestHome, waitFor } from '../node-for-test.ts';

const WRITERS = 4;
const ROUNDS = 20;

let home: TestHome;
let daemon: Daemon;

beforeEach(async () => {
  home = new TestHome();
  daemon = await startTestNode(home);
});
afterEach(async () => {
  await daemon.stop();
  await home.remove();
});

it('shows every reader whole pages without a gap, up to what it is told is the last, while many write', async () => {
  const writers = await Promise.all(Array.from({ length: WRITERS }, () => TestClient.connect(daemon.socket)));
  const reader = await TestClient.connect(daemon.socket, { role: 'observer' });
  const follower = await TestClient.connect(daemon.socket, { role: 'observer' });
  await follower.call('events.subscribe', { after: 0 });
  const state = { writing: true };
  const write = async (writer: TestClient, number: number) => {
    const root = join(home.path, `w${number}`);
    mkdirSync(root);
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id: workspaceId } = await writer.call('workspace.register', { root });
      await writer.call('workspace.unregister', { workspaceId });
    }
  };
  const written = Promise.all(writers.map(write)).finally(() => (state.writing = false));

  let pages = 0;
  while (state.writing) {
    const { events, floor, last } = await reader.call('events.read', { after: 0 });
    expect(floor).toBe(1);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    expect(events.at(-1)?.sequence ?? 0).toBe(last);
    pages += 1;
  }
  await written;
  expect(pages).toBeGreaterThan(10);

  const { events } = await reader.call('events.read', { after: 0 });
  const changes = events.filter(({ body }) => body.kind.startsWith('workspace-'));
  expect(changes).toHaveLength(2 * WRITERS * ROUNDS);
  await waitFor(() => follower.events.length === events.length, 'the follower to have all');
  expect(follower.events).toEqual(events);
  for (const client of [...writers, reader, follower]) client.close();
});
