import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  addressOf,
  applyEvent,
  emptyState,
  type NodeEvent,
  type NodeSnapshot,
  type Session,
  type StateView,
} from '@roost/protocol';
import type { Daemon } from '../daemon.ts';
import { startTestNode, TestClient, TestHome, waitFor } from '../node-for-test.ts';

const durable = (session: Session): Session => ({
  ...session,
  title: null,
  size: null,
  attachedClients: 0,
  usage: null,
});
const parts = ({
  workspaces,
  sessions,
  records,
}: Pick<NodeSnapshot, 'workspaces' | 'sessions' | 'records'>) => ({
  workspaces: [...workspaces].sort((a, b) => (a.id < b.id ? -1 : 1)),
  sessions: sessions.map(durable).sort((a, b) => (a.id < b.id ? -1 : 1)),
  records: [...records].sort((a, b) => (a.id < b.id ? -1 : 1)),
});

describe('a snapshot', () => {
  let home: TestHome;
  let daemon: Daemon;
  let client: TestClient;
  const start = async () => {
    daemon = await startTestNode(home);
    client = await TestClient.connect(daemon.socket);
  };
  const snapshot = (changedAfter?: number) =>
    client.call('node.snapshot', changedAfter === undefined ? {} : { changedAfter });
  const directory = (name: string) => {
    const path = join(home.path, name);
    mkdirSync(path, { recursive: true });
    return path;
  };
  const spawn = (name: string, where = 'a') =>
    client.call('session.spawn', {
      directory: directory(where),
      name: name,
      launch: { kind: 'command', command: ['sleep', '60'] },
    });
  /** A bit of everything that changes workspaces, sessions and records. */
  const liveALittle = async () => {
    const one = await spawn('one');
    const two = await spawn('two', 'b');
    const record = await client.call('record.index', {
      workspaceId: one.workspaceId,
      provider: 'claude',
      providerSession: { key: 'session-id', id: 'x' },
      name: 'found',
    });
    await client.call('record.rename', { recordId: record.id, name: 'better' });
    await client.call('session.stop', { ...addressOf(two), force: true });
    await client.call('session.remove', addressOf(two));
    await client.call('workspace.unregister', { workspaceId: two.workspaceId });
    const other = await client.call('record.index', {
      workspaceId: one.workspaceId,
      provider: 'claude',
      providerSession: { key: 'session-id', id: 'y' },
      name: 'gone',
    });
    await client.call('record.forget', { recordId: other.id });
    return { one, two, record, other };
  };
  const allEvents = async () => (await client.call('events.read', { after: 0 })).events;
  const replay = (events: readonly NodeEvent[]) => {
    const state = emptyState();
    for (const event of events) applyEvent(state, event);
    return state;
  };
  const values = <Value>(things: ReadonlyMap<string, { value: Value }>) =>
    [...things.values()].map(({ value }) => value);
  const partsOf = ({ workspaces, sessions, records }: StateView) =>
    parts({ workspaces: values(workspaces), sessions: values(sessions), records: values(records) });

  beforeEach(async () => {
    home = new TestHome();
    await start();
  });
  afterEach(async () => {
    client.close();
    await daemon.stop();
    await home.remove();
  });

  it('is what the events add up to, and what the rows say', async () => {
    await liveALittle();
    const seen = await snapshot();
    const events = await allEvents();
    expect(seen.sequence).toBe(events.at(-1)?.sequence);
    expect(partsOf(replay(events))).toEqual(parts(seen));
    expect(seen.workspaces).toMatchObject([{ liveSessions: 1 }]);
    client.close();
    await daemon.stop();
    await start();
    const restarted = await snapshot();
    expect(parts(restarted)).toEqual(parts(seen));
    expect(restarted.incarnation).not.toBe(seen.incarnation);
  });

  it('can tell only what changed since another, to the same end', async () => {
    const before = await snapshot();
    const { two } = await liveALittle();
    const middle = await snapshot();
    const three = await spawn('three');
    await client.call('session.stop', { ...addressOf(three), force: true });
    const delta = await snapshot(middle.sequence);
    expect(delta.changedAfter).toBe(middle.sequence);
    expect(delta.sessions.map(({ name }) => name)).toEqual(['three']);
    expect(delta.records).toEqual([]);
    const whole = await snapshot(before.sequence);
    // Came and went within: it is told as gone, which harms nobody who never knew it.
    expect(whole.removed.sessions).toEqual([two.id]);
    expect(parts(whole)).toEqual(parts(await snapshot()));
    expect(await snapshot(delta.sequence)).toMatchObject({ sessions: [], workspaces: [], records: [] });
  });

  it('is whole when it cannot tell the difference', async () => {
    const { sequence } = await snapshot();
    expect((await snapshot(sequence + 1)).changedAfter).toBeNull();
    client.close();
    await daemon.stop();
    await start();
    expect((await snapshot(0)).changedAfter).toBeNull();
  });

  it('shows what a running session is like now', async () => {
    const session = await client.call('session.spawn', {
      directory: home.path,
      launch: { kind: 'command', command: ['sh', '-c', 'printf "\\033]2;working\\007"; sleep 60'] },
      size: { columns: 97, rows: 31 },
    });
    await waitFor(async () => (await snapshot()).sessions[0]?.title === 'working', 'the title');
    expect((await snapshot()).sessions).toMatchObject([{ id: session.id, size: { columns: 97, rows: 31 } }]);
  });

  it('tells what a session is like now also when only that changed, to everybody who knew it otherwise', async () => {
    const session = await client.call('session.spawn', {
      directory: home.path,
      launch: {
        kind: 'command',
        command: ['sh', '-c', 'while read -r title; do printf "\\033]2;$title\\007"; done'],
      },
    });
    const setTitle = async (title: string) => {
      await client.call('session.input', {
        ...addressOf(session),
        text: title,
        framing: 'literal',
        submit: true,
      });
      await waitFor(async () => (await snapshot()).sessions[0]?.title === title, 'the title');
    };
    const titles = async (changedAfter: number) =>
      (await snapshot(changedAfter)).sessions.map(({ title }) => title);
    const before = await snapshot();
    expect(await titles(before.sequence)).toEqual([]);
    await setTitle('first');
    const { sequence } = await snapshot();
    // No event: both have the same sequence, and one of them knows less.
    expect(sequence).toBe(before.sequence);
    expect(await titles(before.sequence)).toEqual(['first']);
    await spawn('another');
    const later = await snapshot();
    await setTitle('second');
    expect(await titles(before.sequence)).toContain('second');
    expect(await titles(later.sequence)).toEqual(['second']);
  });

  it('tells what can be launched, and nothing of how', async () => {
    const seen = await snapshot();
    expect(seen.enabledProviders).toEqual([
      'claude',
      'codex',
      'gemini',
      'opencode',
      'qwen',
      'kimi',
      'grok',
      'copilot',
      'amp',
      'cursor-agent',
      'shell',
    ]);
    expect(seen.providers?.find(({ id }) => id === 'shell')).toMatchObject({
      installed: true,
      capabilities: { pty: ['raw-pty-lifecycle'], pipe: [] },
    });
    expect(seen.launchInventory).toEqual({
      spawnProfiles: [],
      worktreeProfiles: [],
      bundles: [],
      environmentProfiles: [],
    });
    expect(seen.progress).toEqual([]);
  });

  it('is the same however often an event comes', async () => {
    await liveALittle();
    const events = await allEvents();
    const expected = partsOf(replay(events));
    fc.assert(
      fc.property(fc.array(fc.nat(events.length)), (cuts) => {
        const repeated = cuts.flatMap((cut) => events.slice(0, cut));
        expect(partsOf(replay([...repeated, ...events, ...events]))).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });
});
