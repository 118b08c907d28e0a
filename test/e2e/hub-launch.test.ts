/** Launching by spec through a hub, from end to end: a real hub, node and terminals, over HTTP, a relayed line and the event stream. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import WebSocket from 'ws';
import { connectThroughHub, hubRequest, nodeRequest, type NodeConnection } from '@roost/client';
import {
  addressOf,
  FailureError,
  HUB_EVENTS_SOCKET_PATH,
  HubEventMessage,
  type OperationName,
  type ParamsInput,
  type Result,
  type SessionAddress,
} from '@roost/protocol';
import { HubHome } from '../support/hub-home.ts';
import { isAlive } from '../support/roost-home.ts';
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
const RENAMED = 'raw-inventory';

it('a launch by spec through a hub is told in full, happens once for its key, and leaves no trace when it is refused', async () => {
  await using roost = new HubHome();
  const shell = join(roost.root, 'shell');
  writeFileSync(shell, "#!/bin/sh\nprintf 'fixture-ready> '\nexec cat\n", { mode: 0o755 });
  roost.environment.SHELL = shell;
  mkdirSync(join(roost.home, 'profiles', 'spawn'), { recursive: true, mode: 0o700 });
  writeFileSync(join(roost.home, 'profiles', 'spawn', 'review.json'), JSON.stringify(PROFILE));
  await roost.up();

  // 1: the hub has found the node beside it.
  const node = await roost.link('local', 'online');
  const { incarnation } = node;
  expect(incarnation).not.toBeNull();
  const operator = await roost.user('operator', 'operator');
  const ask = <Name extends OperationName>(name: Name, params: ParamsInput<Name>): Promise<Result<Name>> =>
    nodeRequest(operator, node.id, name, params);
  const hubPid = await roost.hubPid();
  const { pid: nodePid, incarnation: started } = await ask('node.status', {});
  expect(incarnation).toBe(started);

  // 2: a line to the node through the hub, and the hub's own events.
  const line = await connectThroughHub(operator, { node: node.id, client: { name: 'test', version: '0' } });
  expect(line.capabilities).toContain('spawn-spec.defaults-overrides-v1');
  expect(line.node).toMatchObject({ id: node.id, incarnation });
  const events = await follow(operator);
  await ask('workspace.register', { root: roost.work, workspaceId: 'primary' });

  // 3
  const inventory = async () => {
    const { sessions, records } = await ask('node.snapshot', {});
    return { sessions: sessions.map(addressOf), records };
  };
  expect(await inventory()).toEqual({ sessions: [], records: [] });

  // 4
  const spec: Spec = {
    target: { nodeId: node.id, workspaceId: 'primary' },
    profileId: 'review',
    expectedRevision: 'review-r7',
    overrides: {
      provider: { kind: 'set', value: 'shell' },
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
  };
  const receipt = await ask('spawn.submit', spec);
  expect(receipt).toMatchObject({
    incarnation,
    target: { nodeId: node.id, workspaceId: 'primary', worktreeId: null },
    profileId: 'review',
    profileRevision: 'review-r7',
    provider: 'shell',
    transport: 'pty',
    size: { columns: 97, rows: 31 },
    prompt: { present: false, byteLength: 0 },
    environmentProfile: null,
    bundle: null,
    context: null,
    provenance: {
      provider: 'override',
      transport: 'override',
      size: 'override',
      prompt: 'cleared',
      environmentProfile: 'cleared',
      bundle: 'cleared',
      context: 'cleared',
    },
    deadlineMs: 20_000,
    idempotencyKey: 'accepted-once',
    requiredCapabilities: ['raw-pty-lifecycle'],
  });

  // 5
  await becomesReady(line, receipt.session, { columns: 97, rows: 31 });

  // 6
  const first = await inventory();
  expect(first.sessions).toEqual([receipt.session]);
  expect(first.records).toHaveLength(1);
  expect(first.records[0]).toMatchObject({
    id: receipt.recordId,
    provider: 'shell',
    transport: 'pty',
    state: 'live',
    workspaceId: 'primary',
    activeSession: receipt.session,
    environmentProfile: null,
    bundle: null,
    context: null,
    providerSession: null,
  });
  const kept = () => hubRequest(operator, 'records.show', { recordId: receipt.recordId });
  expect(await kept()).toMatchObject({ state: 'live', hasProviderSession: false, nodeName: 'local' });
  expect(Object.keys(await kept())).not.toContain('directory');

  // 7
  const renamed = await ask('record.rename', { recordId: receipt.recordId, name: RENAMED });
  expect(renamed).toMatchObject({ name: RENAMED, state: 'live', activeSession: receipt.session });
  const after = { sessions: [receipt.session], records: [renamed] };
  expect(await inventory()).toEqual(after);

  // 8: over the line that time.
  expect(await line.request('spawn.submit', spec)).toEqual(receipt);
  expect(await ask('spawn.submit', spec)).toEqual(receipt);
  expect(await inventory()).toEqual(after);

  // 9-13
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
    expect(await failureOf(ask('spawn.submit', { ...spec, ...more }))).toBe(code);
    expect(await inventory(), code).toEqual(after);
  }

  // 14-16: a launch without a spec is no inventory.
  const plain = await ask('session.spawn', {
    directory: roost.work,
    launch: { kind: 'command', command: [shell] },
    size: { columns: 80, rows: 24 },
  });
  await becomesReady(line, addressOf(plain), { columns: 80, rows: 24 });
  expect(await inventory()).toEqual({ ...after, sessions: [receipt.session, addressOf(plain)] });

  // 17-18
  for (const address of [receipt.session, addressOf(plain)]) {
    const { session } = await ask('session.stop', { ...address, force: true });
    expect(session).toMatchObject({ status: 'exited', endReason: 'stopped' });
  }
  expect((await inventory()).records).toEqual([
    { ...renamed, state: 'unavailable', activeSession: null, updatedAt: expect.any(String) as string },
  ]);
  await waitFor('the hub to know it', async () => (await kept()).state === 'unavailable');
  expect(await kept()).toMatchObject({ name: RENAMED, activeSession: null, hasProviderSession: false });

  // 19
  const hasEnded = new Promise<void>((resolve) => line.onClose(resolve));
  await roost.ok(['hub', 'down']);
  await Promise.all([hasEnded, events.ended]);
  expect(events.faults).toEqual([]);
  const told = new Set(events.kinds);
  for (const kind of ['session-changed', 'record-changed', 'workspace-changed']) expect(told).toContain(kind);
  expect(isAlive(hubPid)).toBe(false);
  expect(isAlive(nodePid)).toBe(true);
  await roost.ok(['down']);
  await waitFor('the node to end', () => !isAlive(nodePid));
});

/** Every event of the hub from now on, held against its schema. */
async function follow(hub: {
  readonly url: string;
  readonly token: string;
}): Promise<{ readonly kinds: string[]; readonly faults: string[]; readonly ended: Promise<void> }> {
  const webSocket = new WebSocket(`${hub.url.replace('http', 'ws')}${HUB_EVENTS_SOCKET_PATH}`, {
    headers: { authorization: `Bearer ${hub.token}` },
  });
  const kinds: string[] = [];
  const faults: string[] = [];
  const ended = new Promise<void>((resolve) => webSocket.once('close', () => resolve()));
  webSocket.on('message', (data: Buffer) => {
    const message = HubEventMessage.safeParse(JSON.parse(data.toString())).data;
    if (message === undefined) faults.push(data.toString());
    else if (message.kind === 'event') kinds.push(message.event.body.kind);
  });
  await new Promise<void>((resolve, reject) => webSocket.once('open', resolve).once('error', reject));
  return { kinds, faults, ended };
}

/** Waits until the session runs with its prompt on a screen of that size; it must never have ended before. */
async function becomesReady(line: NodeConnection, address: SessionAddress, size: object): Promise<void> {
  const { sessionId } = address;
  await waitFor(`${sessionId} to be ready`, async () => {
    const { sessions } = await line.request('node.snapshot', {});
    const session = sessions.find((one) => one.id === sessionId);
    expect(session).toMatchObject({ generation: address.generation, transport: 'pty' });
    expect(['starting', 'running']).toContain(session?.status);
    if (session?.status !== 'running') return false;
    const screen = await line.request('session.readScreen', { sessionId });
    expect(screen.size).toEqual(size);
    return screen.lines.join('\n').includes('fixture-ready>');
  });
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
