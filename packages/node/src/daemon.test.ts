import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { failureOf, startTestNode, TestClient, TestHome, waitFor } from './node-for-test.ts';

describe('a start of the node', () => {
  let home: TestHome;

  beforeEach(() => {
    home = new TestHome();
  });
  afterEach(() => home.remove());

  it('that fails leaves nothing behind: the socket and the lock are free, nothing holds the process, the next one works', async () => {
    const busy = createServer();
    await new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve));
    const { port } = busy.address() as AddressInfo;
    writeFileSync(join(home.path, 'config.json'), JSON.stringify({ listen: `127.0.0.1:${port}` }));
    const before = resources();

    expect(await failureOf(startTestNode(home))).toBe('home-unusable');
    expect(existsSync(join(home.path, 'node.sock'))).toBe(false);
    await new Promise((resolve) => setImmediate(resolve));
    expect(resources()).toEqual(before);

    await new Promise((resolve) => busy.close(resolve));
    const daemon = await startTestNode(home);
    const client = await TestClient.connect(daemon.socket);
    expect((await client.call('node.status', {})).listening).toEqual([`127.0.0.1:${port}`]);
    // Whoever still watches for the one that failed would complain about its closed database.
    writeFileSync(join(home.path, 'profiles/spawn/reviewer.json'), '{"provider":"claude","transport":"pty"}');
    const told = async () => (await client.call('node.snapshot', {})).launchInventory.spawnProfiles;
    await waitFor(async () => (await told())?.length === 1, 'the news of a profile');
    expect(readFileSync(join(home.path, 'logs/node.log'), 'utf8')).not.toContain('could not be told');
    client.socket.terminate();
    await daemon.stop();
  });
});

/** What this process holds of the kinds that a node takes. */
function resources(): string[] {
  return process
    .getActiveResourcesInfo()
    .filter((kind) => ['PipeServerWrap', 'TCPServerWrap'].includes(kind))
    .sort();
}
