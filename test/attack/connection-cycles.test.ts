import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { attackCount } from '../support/counts.ts';
import { LaneViewer } from '../support/lane-viewer.ts';
import { connectTo } from '../support/node-client.ts';
import { MIB, openDescriptors, residentBytes } from '../support/process-facts.ts';
import { HANDSHAKE, HELLO, openRaw, openReady, webSocketFrame } from '../support/raw-web-socket.ts';
import { RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

/** Five connections of the node and one of a keeper each. */
const CYCLES = attackCount(1_000, 25);
/** Commands that are killed in a terminal: each is a process of its own. */
const KILLED_COMMANDS = attackCount(20, 2);
/** After a warm-up of as many cycles; what is measured is a few MiB of garbage that was not collected yet. */
const GROWTH_BYTES_MAX = 32 * MIB;

describe('connecting and vanishing in a loop', () => {
  it(`leaves connections, descriptors and memory as they were (${CYCLES} times)`, async () => {
    await using roost = new RoostHome();
    const { id } = await roost.run('job', ['cat']);
    const connection = await connectTo(roost);
    const [node, keeper] = [await roost.nodePid(), roost.keeperPids()[0] ?? 0];
    const nodeSocket = join(roost.home, 'node.sock');

    const requests: Record<string, unknown> = {
      'node.status': {},
      'session.wait': { sessionId: id, waitMs: 60_000 },
      'events.subscribe': { after: 0 },
      'controller.acquire': { takeOver: true },
    };
    /** Each leaves at another moment: unheard, amid the handshake, amid a request, subscribed, with the lease, attached. */
    const cycle = async (): Promise<void> => {
      (await openRaw(nodeSocket)).destroy();
      const halfway = await openRaw(nodeSocket);
      halfway.write(HANDSHAKE);
      halfway.write(webSocketFrame(HELLO));
      await new Promise((resolve) => halfway.once('data', resolve));
      halfway.destroy();
      for (const operation of Object.keys(requests)) {
        const socket = await openReady(nodeSocket);
        const params = requests[operation];
        socket.write(webSocketFrame(JSON.stringify({ kind: 'request', id: 1, operation, params })));
        socket.resume();
        if (operation !== 'session.wait') await new Promise((resolve) => socket.once('data', resolve));
        socket.destroy();
      }
      const viewer = new LaneViewer(
        await connection.request('session.attach', { sessionId: id, mode: 'drive' }),
      );
      viewer.type('x');
      await viewer.attached();
      viewer[Symbol.dispose]();
    };
    const settled = () =>
      waitFor('only this connection to be left', async () => {
        const { connections } = await connection.request('node.status', {});
        return (
          connections.open === 1 &&
          connections.unauthenticated === 0 &&
          (await roost.session('job')).attachedClients === 0
        );
      });

    for (let count = 0; count < CYCLES; count += 1) await cycle();
    await settled();
    const facts = () =>
      [node, keeper].map((pid) => ({ fds: openDescriptors(pid), bytes: residentBytes(pid) }));
    const before = facts();
    for (let count = 0; count < CYCLES; count += 1) await cycle();
    for (let count = 0; count < KILLED_COMMANDS; count += 1) {
      const terminal = roost.terminal(['attach', 'job']);
      await waitFor('the client', async () => (await roost.session('job')).attachedClients > 0);
      process.kill(terminal.pid, 'SIGKILL');
      await waitFor('it to be missed', async () => (await roost.session('job')).attachedClients === 0);
    }
    await settled();
    for (const [index, { fds, bytes }] of before.entries()) {
      const pid = [node, keeper][index] ?? 0;
      await waitFor('the descriptors to be as before', () => openDescriptors(pid) <= fds);
      expect(residentBytes(pid) - bytes).toBeLessThan(GROWTH_BYTES_MAX);
    }
    connection.close();
  });
});
