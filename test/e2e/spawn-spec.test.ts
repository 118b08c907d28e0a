/** Launching by spec from end to end: a real node, real terminals, the client library; what is overridden, replayed, refused. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connectNode, nodeSocketPath, type NodeConnection } from '@roost/client';
import {
  addressOf,
  FailureError,
  type NodeEvent,
  type ParamsInput,
  type SessionAddress,
} from '@roost/protocol';
import { connectTo } from '../support/node-client.ts';
import { isAlive, RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

type Spec = ParamsInput<'spawn.submit'>;

const PROFILE = {
  revision: 'review-r7',
  provider: 'claude',
  transport: 'pipe',
  size: { columns: 70, rows: 20 },
  prompt: 'profile-prompt-must-be-cleared',
  bundle: 'profile-bundle',
  context: 'profile-context',
  environmentProfile: 'profile-environment',
};

/** A Roost with a `claude` that shows that it is ready and waits, and the profile above. */
async function open(): Promise<{ roost: RoostHome; connection: NodeConnection; workspaceId: string }> {
  const roost = new RoostHome();
  const programs = join(roost.root, 'bin');
  mkdirSync(programs);
  writeFileSync(
    join(programs, 'claude'),
    '#!/bin/sh\n[ "$1" = --version ] && exec echo 2.1.197\nprintf \'fixture-ready> \'\nexec cat\n',
  );
  chmodSync(join(programs, 'claude'), 0o755);
  roost.environment.PATH = `${programs}:${roost.environment.PATH ?? ''}`;
  mkdirSync(join(roost.home, 'profiles', 'spawn'), { recursive: true, mode: 0o700 });
  writeFileSync(join(roost.home, 'profiles', 'spawn', 'review.json'), JSON.stringify(PROFILE));
  await roost.ok(['up', '--no-hub']);
  const connection = await connectTo(roost);
  const { id } = await connection.request('workspace.register', { root: roost.work, workspaceId: 'primary' });
  return { roost, connection, workspaceId: id };
}

function specFor(connection: NodeConnection, more: Partial<Spec> = {}): Spec {
  return {
    target: { nodeId: connection.node.id, workspaceId: 'primary' },
    profileId: 'review',
    expectedRevision: 'review-r7',
    overrides: {
      provider: { kind: 'set', value: 'claude' },
      transport: { kind: 'set', value: 'pty' },
      size: { kind: 'set', value: { columns: 97, rows: 31 } },
      prompt: { kind: 'clear' },
      bundle: { kind: 'clear' },
      context: { kind: 'clear' },
      environmentProfile: { kind: 'clear' },
    },
    deadlineMs: 20_000,
    idempotencyKey: 'accepted-once',
    requiredCapabilities: ['raw-pty-lifecycle'],
    ...more,
  };
}

async function failureOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof FailureError) return error.failure.code;
    throw error;
  }
  return 'none';
}

async function inventory(connection: NodeConnection) {
  const { sessions, records } = await connection.request('node.snapshot', {});
  return { sessions: sessions.map(addressOf), records };
}

/** Waits until the session runs with its prompt on a screen of that size; it must never have ended before. */
async function becomesReady(
  connection: NodeConnection,
  address: SessionAddress,
  size: object,
): Promise<void> {
  await waitFor(`${address.sessionId} to be ready`, async () => {
    const { sessions } = await connection.request('node.snapshot', {});
    const session = sessions.find((one) => one.id === address.sessionId);
    expect(session).toMatchObject({ generation: address.generation, transport: 'pty' });
    expect(['starting', 'running']).toContain(session?.status);
    if (session?.status !== 'running') return false;
    const { sessionId } = address;
    const screen = await connection.request('session.readScreen', { sessionId });
    expect(screen.size).toEqual(size);
    return screen.lines.join('\n').includes('fixture-ready>');
  });
}

describe('a launch by spec', () => {
  it('overrides its profile, is told in full, happens once for its key, and leaves no trace when it is refused', async () => {
    const { roost, connection } = await open();
    await using _ = roost;
    const events: NodeEvent[] = [];
    await connection.subscribeEvents({ sequence: 0 }, (event) => 'at' in event && events.push(event));
    expect(connection.capabilities).toContain('spawn-spec.defaults-overrides-v1');
    expect(await inventory(connection)).toEqual({ sessions: [], records: [] });
    expect(await connection.request('profile.list', {})).toMatchObject({
      profiles: [{ id: 'review', revision: 'review-r7', provider: 'claude', transport: 'pipe' }],
      faults: [],
    });

    const spec = specFor(connection);
    const receipt = await connection.request('spawn.submit', spec);
    expect(receipt).toEqual({
      incarnation: connection.node.incarnation,
      target: { nodeId: connection.node.id, workspaceId: 'primary', worktreeId: null },
      profileId: 'review',
      profileRevision: 'review-r7',
      session: { workspaceId: 'primary', sessionId: receipt.session.sessionId, generation: 1 },
      recordId: receipt.recordId,
      name: 'claude',
      provider: 'claude',
      transport: 'pty',
      worktree: null,
      size: { columns: 97, rows: 31 },
      arguments: 0,
      prompt: { present: false, byteLength: 0 },
      environmentProfile: null,
      bundle: null,
      context: null,
      provenance: {
        provider: 'override',
        transport: 'override',
        size: 'override',
        arguments: 'profile',
        prompt: 'cleared',
        environmentProfile: 'cleared',
        bundle: 'cleared',
        context: 'cleared',
      },
      deadlineMs: 20_000,
      idempotencyKey: 'accepted-once',
      requiredCapabilities: ['raw-pty-lifecycle'],
    });
    await becomesReady(connection, receipt.session, { columns: 97, rows: 31 });

    const first = await inventory(connection);
    expect(first.sessions).toEqual([receipt.session]);
    expect(first.records).toHaveLength(1);
    expect(first.records[0]).toMatchObject({
      id: receipt.recordId,
      name: 'claude',
      provider: 'claude',
      transport: 'pty',
      state: 'live',
      workspaceId: 'primary',
      activeSession: receipt.session,
      environmentProfile: null,
      bundle: null,
      context: null,
      lastError: null,
    });

    const name = 'raw-inventory';
    const renamed = await connection.request('record.rename', { recordId: receipt.recordId, name });
    expect(renamed).toMatchObject({
      id: receipt.recordId,
      name,
      state: 'live',
      activeSession: receipt.session,
    });
    const after = await inventory(connection);
    expect(after).toEqual({ sessions: [receipt.session], records: [renamed] });

    expect(await connection.request('spawn.submit', spec)).toEqual(receipt);
    expect(await connection.request('spawn.result', { idempotencyKey: 'accepted-once' })).toEqual({
      state: 'accepted',
      receipt,
    });
    const { overrides } = spec;
    const refusals: [string, Partial<Spec>][] = [
      [
        'spawn-idempotency-conflict',
        { overrides: { ...overrides, size: { kind: 'set', value: { columns: 98, rows: 32 } } } },
      ],
      ['unknown-spawn-profile', { profileId: 'missing-profile', idempotencyKey: 'missing-profile' }],
      [
        'unknown-bundle',
        {
          overrides: { ...overrides, bundle: { kind: 'set', value: 'unavailable-bundle' } },
          idempotencyKey: 'unavailable-bundle',
        },
      ],
      ['spawn-deadline-exceeded', { deadlineMs: 1, idempotencyKey: 'too-late' }],
    ];
    for (const [code, more] of refusals) {
      expect(await failureOf(connection.request('spawn.submit', specFor(connection, more)))).toBe(code);
      expect(await inventory(connection), code).toEqual(after);
    }

    const plain = await connection.request('session.spawn', {
      directory: roost.work,
      launch: { kind: 'command', command: [join(roost.root, 'bin', 'claude')] },
      size: { columns: 80, rows: 24 },
    });
    await becomesReady(connection, addressOf(plain), { columns: 80, rows: 24 });
    expect(await inventory(connection)).toEqual({
      sessions: [receipt.session, addressOf(plain)],
      records: [renamed],
    });
    for (const address of [receipt.session, addressOf(plain)]) {
      const { session } = await connection.request('session.stop', { ...address, force: true });
      expect(session).toMatchObject({ status: 'exited', endReason: 'stopped' });
    }
    expect((await inventory(connection)).records).toEqual([
      {
        ...renamed,
        // Its provider keeps the session under the id that the launch gave it.
        state: 'dormant',
        activeSession: null,
        updatedAt: expect.any(String) as string,
      },
    ]);

    expect(events.map((event) => event.sequence)).toEqual(events.map((_event, index) => index + 1));
    const ofLate = events.filter(
      ({ body }) => body.kind === 'session-removed' || body.kind === 'record-removed',
    );
    expect(ofLate.length).toBeLessThanOrEqual(2);
    const { pid } = await connection.request('node.status', {});
    connection.close();
    await roost.ok(['down']);
    await waitFor('the node to end', () => !isAlive(pid));
  });

  it('of a program without sessions of its own is inventory that cannot be resumed', async () => {
    const { roost, connection } = await open();
    await using _ = roost;
    const { overrides } = specFor(connection);
    const spec = specFor(connection, {
      overrides: { ...overrides, provider: { kind: 'set', value: 'shell' } },
    });
    const { session, recordId } = await connection.request('spawn.submit', spec);
    const before = await connection.request('record.resolve', { selector: recordId });
    expect(before).toMatchObject({ state: 'live', providerSession: null, activeSession: session });
    await connection.request('session.stop', { ...session, force: true });
    const ended = await connection.request('record.resolve', { selector: recordId });
    expect(ended).toMatchObject({ state: 'unavailable', activeSession: null, name: before.name });
    connection.close();
  });

  it('goes on when its connection is lost, and its outcome is there for whoever has the key', async () => {
    const { roost, connection } = await open();
    await using _ = roost;
    await connection.request('session.spawn', {
      directory: roost.work,
      launch: { kind: 'command', command: ['cat'] },
    });
    const [keeper = 0] = roost.keeperPids();
    process.kill(keeper, 'SIGSTOP');
    const spec = specFor(connection);
    const asked = failureOf(connection.request('spawn.submit', spec));
    const other = await connectTo(roost);
    const result = () => other.request('spawn.result', { idempotencyKey: spec.idempotencyKey });
    await waitFor('the launch to be under way', async () => (await result()).state === 'pending');
    connection.close();
    expect(await asked).toBe('connection-lost');
    process.kill(keeper, 'SIGCONT');
    const told = await waitFor('the launch to be accepted', async () => {
      const now = await result();
      return now.state === 'accepted' && now.receipt;
    });
    expect(await other.request('spawn.submit', spec)).toEqual(told);
    await becomesReady(other, told.session, { columns: 97, rows: 31 });
    expect((await inventory(other)).sessions).toHaveLength(2);
    other.close();
  });

  it('goes on when its request is no longer waited for', async () => {
    const { roost, connection } = await open();
    await using _ = roost;
    await connection.request('session.spawn', {
      directory: roost.work,
      launch: { kind: 'command', command: ['cat'] },
    });
    const [keeper = 0] = roost.keeperPids();
    process.kill(keeper, 'SIGSTOP');
    const spec = specFor(connection);
    expect(await failureOf(connection.request('spawn.submit', spec, { timeoutMs: 300 }))).toBe(
      'request-timed-out',
    );
    process.kill(keeper, 'SIGCONT');
    const receipt = await connection.request('spawn.submit', spec);
    expect((await inventory(connection)).sessions).toContainEqual(receipt.session);
    connection.close();
  });

  it('is no business of an observer', async () => {
    const { roost, connection } = await open();
    await using _ = roost;
    const observer = await connectNode({
      socketPath: nodeSocketPath(roost.home),
      role: 'observer',
      client: { name: 'observer', version: '0' },
    });
    expect(await failureOf(observer.request('spawn.submit', specFor(connection)))).toBe('observer-read-only');
    expect((await observer.request('profile.list', {})).profiles).toHaveLength(1);
    observer.close();
    connection.close();
  });
});
