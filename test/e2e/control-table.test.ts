/** Roles and the controller lease, over the wire, for every operation of the table: what a refused request must not do. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectNode, nodeSocketPath, type NodeConnection } from '@roost/client';
import { addressOf, FailureError, OPERATIONS, type OperationName, type Role } from '@roost/protocol';
import { RoostHome } from '../support/roost-home.ts';
import { spawnCommand } from '../support/node-client.ts';
import { waitFor } from '../support/wait-for.ts';

const ALL = Object.keys(OPERATIONS) as OperationName[];
const withAccess = (access: string) => ALL.filter((name) => OPERATIONS[name].access === access);

/** Well-formed parameters, so that nothing but the role and the lease can be the reason of a refusal. */
type Samples = Record<string, Record<string, unknown>>;

const SAMPLE_SIZE = { columns: 20, rows: 10 };

describe('over the wire', () => {
  let roost: RoostHome;
  let holder: NodeConnection;
  let other: NodeConnection;
  let observer: NodeConnection;
  let samples: Samples;

  const connect = (name: string, role: Role = 'operator') =>
    connectNode({
      socketPath: nodeSocketPath(roost.home),
      role,
      client: { name, version: '0' },
      timeoutMs: 15_000,
    });
  const outcome = async (connection: NodeConnection, name: OperationName, lease?: 'brief' | 'held') => {
    try {
      await connection.request(name, samples[name] ?? {}, {
        ...(lease && { lease }),
        timeoutMs: 20_000,
      });
      return 'done';
    } catch (error) {
      if (error instanceof FailureError) return error.failure.code;
      throw error;
    }
  };
  /** Everything that an operation could have changed. */
  const truth = async () => {
    const { sequence, sessions, records, workspaces } = await observer.request('node.snapshot', {});
    return {
      sequence,
      sessions: sessions.map((one) => ({ ...one, attachedClients: 0, title: null })),
      records,
      workspaces,
    };
  };

  beforeAll(async () => {
    roost = new RoostHome();
    await roost.ok(['up', '--no-hub']);
    holder = await connect('holder');
    other = await connect('other');
    observer = await connect('observer', 'observer');
    const session = await spawnCommand(holder, roost.work, ['sh', '-c', 'cat; sleep 600'], { name: 'job' });
    const address = addressOf(session);
    // As the samples leave it, so that none of them changes anything that is told later.
    await holder.request('session.resize', { ...address, size: SAMPLE_SIZE });
    await waitFor('the session to have that size', async () => {
      const { sessions } = await observer.request('node.snapshot', {});
      return sessions.some(({ status, size }) => status === 'running' && size?.rows === SAMPLE_SIZE.rows);
    });
    const recordId = '00000000000000b1';
    const text = { ...address, text: 'x' };
    const file = { workspaceId: session.workspaceId, path: 'made' };
    const spec = {
      target: { nodeId: holder.node.id, workspaceId: session.workspaceId },
      profileId: 'p',
      expectedRevision: 'r',
      deadlineMs: 1_000,
      idempotencyKey: 'k',
    };
    const newWorktree = { profileId: 'p', expectedRevision: 'r' };
    const leaseId = 'wt-00000000000000c1';
    samples = {
      'node.shutdown': { stopSessions: true },
      'provider.check': { provider: 'shell' },
      'workspace.register': { root: '/' },
      'workspace.createStandalone': { root: join(roost.work, 'made') },
      'worktree.create': { sourceWorkspaceId: session.workspaceId, branch: 'made' },
      'worktree.remove': { sourceWorkspaceId: session.workspaceId, targetRoot: join(roost.work, 'made') },
      'worktree.allocate': { ...newWorktree, idempotencyKey: 'k' },
      'worktree.spawn': { spec, worktree: { kind: 'new', ...newWorktree } },
      'worktree.cleanup': { leaseId },
      'worktree.resolve': { leaseId, choice: 'keep' },
      'workspace.unregister': { workspaceId: session.workspaceId },
      'workspace.writeFile': { ...file, expectedRevision: '0'.repeat(64), text: 'x' },
      'workspace.createFile': file,
      'workspace.createDirectory': file,
      'session.spawn': { directory: roost.work, launch: { kind: 'command', command: ['true'] } },
      'session.input': { ...text, framing: 'literal' },
      'session.prompt': text,
      'session.paste': text,
      'session.sendBytes': { ...address, base64: 'eA==' },
      'session.sendKey': { ...address, key: 'enter' },
      'session.resize': { ...address, size: SAMPLE_SIZE },
      'session.interrupt': address,
      'session.acknowledge': address,
      'session.stop': { ...address, force: true },
      'session.remove': address,
      'session.resume': address,
      'session.choose': { ...address, choice: 'model', id: 'x' },
      'interaction.resolve': { interactionId: '0'.repeat(24), reply: { kind: 'allow' } },
      'session.reportIdentity': { ...address, providerSession: { key: 'session-id', id: 'abc' } },
      'spawn.submit': spec,
      'spawn.result': { idempotencyKey: 'k' },
      'record.rename': { recordId, name: 'x' },
      'record.setTask': { recordId, expectedRevision: 0, target: { kind: 'new' } },
      'record.index': {
        workspaceId: session.workspaceId,
        provider: 'claude',
        providerSession: { key: 'session-id', id: 'abc' },
        name: 'x',
      },
      'record.resume': { recordId },
      'history.adopt': { historyId: '00000000000000d1' },
      'record.forget': { recordId },
      'session.attach': { sessionId: session.id, mode: 'drive' },
    };
  }, 60_000);

  afterAll(async () => {
    for (const connection of [holder, other, observer]) connection.close();
    await roost[Symbol.asyncDispose]();
  }, 60_000);

  it.each(withAccess('controller'))('%s has a sample that is well-formed', (name) => {
    expect(OPERATIONS[name].params.safeParse(samples[name]).error).toBeUndefined();
  });

  it('an observer can do nothing but what the table allows, and leaves no trace trying', async () => {
    const before = await truth();
    for (const name of [...withAccess('operator'), ...withAccess('controller')])
      expect(await outcome(observer, name, 'brief'), name).toBe('observer-read-only');
    expect(await truth()).toEqual(before);
  });

  it('a controller without the lease is refused every change, briefly asked or not, and leaves no trace', async () => {
    await holder.request('controller.acquire', { leaseMs: 60_000 });
    const before = await truth();
    for (const name of withAccess('controller')) {
      expect(await outcome(other, name, 'held'), name).toBe('controller-required');
      expect(await outcome(other, name, 'brief'), name).toBe('controller-busy');
    }
    expect(await truth()).toEqual(before);
    expect(await outcome(holder, 'session.resize')).toBe('done');
    await holder.request('controller.release', {});
  });

  it('a takeover is an event that everybody sees, and turns the roles round', async () => {
    await holder.request('controller.acquire', { leaseMs: 60_000 });
    const { sequence } = await truth();
    await other.request('controller.acquire', { takeOver: true });
    expect(await outcome(holder, 'session.resize', 'held')).toBe('controller-required');
    expect(await outcome(other, 'session.resize')).toBe('done');
    const { events } = await observer.request('events.read', { after: sequence });
    expect(events.map(({ body }) => body)).toEqual([
      {
        kind: 'controller-changed',
        reason: 'taken-over',
        controller: { connectionId: other.connectionId, clientName: 'other', remainingMs: 15_000 },
      },
    ]);
    await other.request('controller.release', {});
  });
});
