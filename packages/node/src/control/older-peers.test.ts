/** What a peer sees and may do that knows less than the node: over the wire, in every way in which it could find out more. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OFFERED_CAPABILITIES, RecordId, type Capability, type SpawnReceipt } from '@roost/protocol';
import type { Daemon } from '../daemon.ts';
import { failureOf, startTestNode, TestClient, TestHome, waitFor } from '../node-for-test.ts';

const UNKNOWN = RecordId.parse('0'.repeat(16));

describe('a peer that knows less', () => {
  let home: TestHome;
  let daemon: Daemon;
  let client: TestClient;
  let work: string;
  let known: SpawnReceipt;
  let other: SpawnReceipt;

  const peerWithout = (...missing: Capability[]) =>
    TestClient.connect(daemon.socket, {
      capabilities: OFFERED_CAPABILITIES.filter((one) => !missing.includes(one)),
    });
  const last = async () => (await client.call('node.status', {})).lastEventSequence;
  const launch = async (profileId: string, idempotencyKey: string) =>
    client.call('spawn.submit', {
      target: { nodeId: daemon.identity.nodeId, workspaceId: 'work' },
      profileId,
      expectedRevision: 'r1',
      deadlineMs: 60_000,
      idempotencyKey,
    });

  beforeAll(async () => {
    home = new TestHome();
    work = join(home.path, 'work');
    const [programs, profiles] = [join(home.path, 'bin'), join(home.path, 'profiles', 'spawn')];
    for (const directory of [work, programs, profiles])
      mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(
      join(programs, 'claude'),
      '#!/bin/sh\n[ "$1" = --version ] && exec echo 2.1.197\ntrap \'\' INT\nexec cat\n',
    );
    chmodSync(join(programs, 'claude'), 0o755);
    for (const provider of ['claude', 'shell']) {
      writeFileSync(join(profiles, `${provider}.json`), JSON.stringify({ provider, revision: 'r1' }));
    }
    daemon = await startTestNode(home, {
      environment: { PATH: `${programs}:${process.env.PATH}`, HOME: home.path, SHELL: '/bin/sh' },
    });
    client = await TestClient.connect(daemon.socket);
    await client.call('workspace.register', { root: work, workspaceId: 'work' });
    known = await launch('claude', 'known');
    other = await launch('shell', 'other');
  });
  afterAll(async () => {
    client.close();
    await daemon.stop();
    await home.remove();
  });

  it('of providers sees nothing of those it does not know, in lists, snapshot, journal and live events', async () => {
    const peer = await peerWithout('provider-id.open-v1');
    await peer.call('events.subscribe', { after: 0 });
    await client.call('record.rename', { recordId: known.recordId, name: 'known' });
    await client.call('record.rename', { recordId: other.recordId, name: 'other' });
    const sequence = await last();
    const { records } = await peer.call('record.list', {});
    expect(records.map(({ id }) => id)).toEqual([known.recordId]);
    const { sessions } = await peer.call('session.list', { includeEnded: true });
    expect(sessions.map(({ id }) => id)).toEqual([known.session.sessionId]);
    const snapshot = await peer.call('node.snapshot', {});
    expect(snapshot.records.map(({ id }) => id)).toEqual([known.recordId]);
    expect(snapshot.sessions.map(({ id }) => id)).toEqual([known.session.sessionId]);
    expect(snapshot.enabledProviders).not.toContain('shell');
    expect(snapshot.launchInventory.spawnProfiles?.map(({ id }) => id)).toEqual(['claude']);
    expect((await peer.call('profile.list', {})).profiles.map(({ id }) => id)).toEqual(['claude']);

    const page = await peer.call('events.read', { after: 0 });
    expect(page.last).toBe(sequence);
    await waitFor(() => peer.events.length === page.events.length, 'as many live events as in the journal');
    expect(peer.events).toEqual(page.events);
    const everything = JSON.stringify([page, records, sessions, snapshot]);
    for (const secret of [other.recordId, other.session.sessionId, '"shell"'])
      expect(everything).not.toContain(secret);
    expect(everything).toContain(known.recordId);
    peer.close();
  });

  it('of providers gets one answer for what it may not see and for what does not exist, and changes nothing', async () => {
    const peer = await peerWithout('provider-id.open-v1');
    const before = await last();
    const records = await client.call('record.list', {});
    for (const recordId of [other.recordId, UNKNOWN]) {
      const asked = [
        peer.call('record.rename', { recordId, name: 'found' }),
        peer.call('record.setTask', { recordId, expectedRevision: 0, target: { kind: 'new' } }),
        peer.call('record.resume', { recordId }),
        peer.call('record.forget', { recordId }),
      ];
      for (const one of asked) expect(await failureOf(one)).toBe('unsupported-capability');
    }
    const addresses = [other.session, { ...other.session, sessionId: '0'.repeat(16) }];
    for (const address of addresses) {
      const asked = [
        peer.call('session.interrupt', address),
        peer.call('session.stop', address),
        peer.call('session.remove', address),
        peer.call('session.resume', address),
        peer.call('session.prompt', { ...address, text: 'x' }),
        peer.call('session.paste', { ...address, text: 'x' }),
        peer.call('session.input', { ...address, text: 'x', framing: 'literal' }),
        peer.call('session.sendBytes', { ...address, base64: 'eA==' }),
        peer.call('session.sendKey', { ...address, key: 'enter' }),
        peer.call('session.resize', { ...address, size: { columns: 20, rows: 10 } }),
      ];
      for (const one of asked) expect(await failureOf(one)).toBe('unsupported-capability');
    }
    const launching = peer.call('session.spawn', {
      directory: work,
      launch: { kind: 'provider', provider: 'shell', arguments: [] },
    });
    expect(await failureOf(launching)).toBe('unsupported-capability');
    expect(await last()).toBe(before);
    expect(await client.call('record.list', {})).toEqual(records);
    // What it knows is its own.
    await peer.call('session.interrupt', known.session);
    peer.close();
  });

  it('of tasks sees none, in any way, and may bind none', async () => {
    const { recordId } = known;
    await client.call('record.setTask', { recordId, expectedRevision: 0, target: { kind: 'new' } });
    const after = await last();
    const peer = await peerWithout('session-task-correlation-v1');
    const bound = await failureOf(
      peer.call('record.setTask', { recordId, expectedRevision: 1, target: { kind: 'clear' } }),
    );
    expect(bound).toBe('unsupported-capability');
    expect(await last()).toBe(after);
    await peer.call('events.subscribe', { after: 0 });
    const renamed = await peer.call('record.rename', { recordId, name: 'renamed' });
    const seen = [
      renamed,
      await peer.call('record.list', {}),
      await peer.call('node.snapshot', {}),
      await peer.call('events.read', { after: 0 }),
    ];
    await waitFor(() => peer.events.at(-1)?.sequence === after + 2, 'the last event');
    expect(renamed.taskBinding).toBeNull();
    expect(JSON.stringify([seen, peer.events])).not.toContain('task-');
    // A peer that knows tasks sees it.
    const { taskBinding } = await client.call('record.resolve', { selector: recordId });
    expect(taskBinding).toMatchObject({ revision: 1, taskId: expect.stringMatching(/^task-/) as string });
    peer.close();
  });

  it('of removals is told of those of its own, and of no others', async () => {
    const hidden = await launch('shell', 'hidden');
    const mine = await launch('claude', 'mine');
    const peer = await peerWithout('provider-id.open-v1');
    const after = await last();
    await peer.call('events.subscribe', { after });
    for (const { session, recordId } of [hidden, mine]) {
      await client.call('session.stop', { ...session, force: true });
      await client.call('record.forget', { recordId });
    }
    const isLast = () => peer.events.some(({ body }) => body.kind === 'record-removed');
    await waitFor(isLast, 'the removal');
    const removals = peer.events.filter(({ body }) => body.kind.endsWith('-removed'));
    expect(removals.map(({ body }) => body)).toEqual(
      expect.arrayContaining([
        { kind: 'session-removed', sessionId: mine.session.sessionId, provider: 'claude' },
        { kind: 'record-removed', recordId: mine.recordId, provider: 'claude' },
      ]),
    );
    expect(removals).toHaveLength(2);
    expect(JSON.stringify(peer.events)).not.toContain(hidden.recordId);
    peer.close();
  });
});
