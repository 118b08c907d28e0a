/** Exact addresses: every verb of the table that names a run refuses what names another one, and leaves no trace. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addressOf, OPERATIONS, type OperationName, type Session } from '@roost/protocol';
import type { Daemon } from '../daemon.ts';
import { failureOf, startTestNode, TestClient, TestHome } from '../node-for-test.ts';

const VERBS = (Object.keys(OPERATIONS) as OperationName[]).filter((name) =>
  (OPERATIONS[name].failures as readonly string[]).includes('stale-generation'),
);
/** What they need beside an address. */
const MORE: Partial<Record<OperationName, object>> = {
  'session.input': { text: 'x', framing: 'literal' },
  'session.prompt': { text: 'x' },
  'session.paste': { text: 'x' },
  'session.sendBytes': { base64: 'eA==' },
  'session.sendKey': { key: 'enter' },
  'session.resize': { size: { columns: 20, rows: 10 } },
  'session.choose': { choice: 'model', id: 'x' },
  'session.reportIdentity': { providerSession: { key: 'session-id', id: 'abc' } },
};

describe('an address', () => {
  let home: TestHome;
  let daemon: Daemon;
  let client: TestClient;
  let session: Session;
  let elsewhere: Session;

  beforeAll(async () => {
    home = new TestHome();
    daemon = await startTestNode(home);
    client = await TestClient.connect(daemon.socket);
    const spawn = (name: string) => {
      const directory = join(home.path, name);
      mkdirSync(directory);
      return client.call('session.spawn', {
        directory,
        launch: { kind: 'command', command: ['sleep', '600'] },
      });
    };
    session = await spawn('one');
    elsewhere = await spawn('two');
  });
  afterAll(async () => {
    await client.call('node.shutdown', { stopSessions: true });
    await daemon.stopped;
    await home.remove();
  });

  it('is what every verb of a session takes', () => {
    expect(VERBS.length).toBeGreaterThanOrEqual(10);
    const plain = ['session.attach', 'session.readScreen', 'session.readOutput', 'session.wait'];
    const naming = ['session.followOutput', 'session.unfollowOutput', 'session.list', 'session.resolve'];
    const others = (Object.keys(OPERATIONS) as OperationName[]).filter(
      (name) => name.startsWith('session.') && OPERATIONS[name].access === 'controller',
    );
    expect(others.filter((name) => !VERBS.includes(name) && ![...plain, ...naming].includes(name))).toEqual([
      'session.spawn',
    ]);
  });

  it.each(VERBS)('of another run, another workspace, or nothing is refused by %s', async (name) => {
    const exact = addressOf(session);
    const { lastEventSequence } = await client.call('node.status', {});
    const ask = (address: object) => failureOf(client.call(name, { ...address, ...MORE[name] }));
    // A run that ended long ago can still be removed: only its own generation counts there.
    expect(await ask({ ...exact, generation: 2 })).toBe('stale-generation');
    expect(await ask({ ...exact, workspaceId: elsewhere.workspaceId })).toBe('session-workspace-mismatch');
    expect(await ask({ ...exact, sessionId: '0'.repeat(16) })).toBe('unknown-session');
    const after = await client.call('node.status', {});
    expect(after.lastEventSequence).toBe(lastEventSequence);
    expect(after.sessions).toEqual({ live: 2, ended: 0 });
  });

  it('means nothing any more when its session is removed', async () => {
    const { directory } = session;
    const short = await client.call('session.spawn', {
      directory,
      launch: { kind: 'command', command: ['sleep', '600'] },
    });
    await client.call('session.stop', { ...addressOf(short), force: true });
    await client.call('session.remove', addressOf(short));
    for (const name of VERBS) {
      const asked = client.call(name, { ...addressOf(short), ...MORE[name] });
      expect(await failureOf(asked), name).toBe('unknown-session');
    }
  });
});
