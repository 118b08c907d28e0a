/** Clients of other versions do their daily work at today's node. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';
import { FrozenClient, type FrozenEvent, type FrozenOptions, type FrozenSession } from './frozen-client.ts';

const OLDER = {
  protocol: { min: 2, max: 2 },
  capabilities: ['compatibility.metadata', 'event-journal-v1', 'terminal-attach-v1', 'pipe-output-v1'],
} as const;
const NEWER = {
  protocol: { min: 2, max: 3 },
  capabilities: [...OLDER.capabilities, 'provider-id.open-v1', 'moon-phase-v9', 'Ünicode.v1'],
  extraHello: { locale: 'fr', traits: { dark: true }, rows: [1, 2] },
  extraRequest: { trace: 'abc', priority: { level: 3 }, parts: null },
} as const;
const CLIENTS: [string, Omit<FrozenOptions, 'socketPath' | 'token'>][] = [
  ['older', OLDER],
  ['newer', NEWER],
];

let roost: RoostHome;
let token: string;

beforeAll(async () => {
  roost = new RoostHome();
  // A provider that every version knows, as a program of ours: `cat` on whatever it is started with.
  const programs = join(roost.root, 'bin');
  mkdirSync(programs);
  writeFileSync(join(programs, 'claude'), '#!/bin/sh\n[ "$1" = --version ] && exec echo 2.1.197\nexec cat\n');
  chmodSync(join(programs, 'claude'), 0o755);
  roost.environment.PATH = `${programs}:${roost.environment.PATH ?? ''}`;
  await roost.ok(['ls']);
  token = readFileSync(join(roost.home, 'node.token'), 'utf8');
});
afterAll(() => roost[Symbol.asyncDispose]());

const connect = (options: Omit<FrozenOptions, 'socketPath' | 'token'>) =>
  FrozenClient.connect({ ...options, socketPath: join(roost.home, 'node.sock'), token });

describe.each(CLIENTS)('an %s client', (_, options) => {
  test('gets the version and the capabilities that both know', async () => {
    using client = await connect(options);
    expect(client.selection.protocol).toBe(2);
    expect([...client.selection.capabilities].sort()).toEqual(
      options.capabilities.filter((one) => !['moon-phase-v9', 'Ünicode.v1'].includes(one)).sort(),
    );
    expect(client.readySequence).toBeGreaterThan(0);
  });

  test('launches, lists, follows, stops and removes a session', async () => {
    using client = await connect(options);
    const subscribed = await client.request<{ last: number }>('events.subscribe', {
      after: client.readySequence,
    });
    expect(subscribed.last).toBeGreaterThanOrEqual(client.readySequence);
    const launch = { kind: 'provider', provider: 'claude', arguments: [] };
    const asked = { directory: roost.work, launch, transport: 'pty' };
    const session = await client.request<FrozenSession>('session.spawn', asked, 'brief');
    expect(session).toMatchObject({ provider: 'claude', transport: 'pty' });

    const listed = await client.request<{ sessions: FrozenSession[]; truncated: boolean }>(
      'session.list',
      {},
    );
    expect(listed.truncated).toBe(false);
    expect(listed.sessions.map(({ id }) => id)).toContain(session.id);

    const address = {
      workspaceId: session.workspaceId,
      sessionId: session.id,
      generation: session.generation,
    };
    await client.request('controller.acquire', {});
    await client.request('session.stop', { ...address, graceMs: 2_000 });
    await waitFor('the end of the session', () => statusesOf(client.events, session.id).includes('exited'));
    await client.request('session.remove', address);
    await client.request('controller.release', {});
    expect(statusesOf(client.events, session.id)).toEqual(expect.arrayContaining(['running', 'exited']));

    const page = await client.request<{ events: FrozenEvent[]; last: number }>('events.read', {
      after: client.readySequence,
    });
    await waitFor('what the journal has', () => client.events.length >= page.events.length);
    expect(client.events.slice(0, page.events.length)).toEqual(page.events);
  });

  test('is refused what it does not know or may not ask, and goes on', async () => {
    using client = await connect(options);
    await expect(client.request('node.explode', {})).rejects.toThrow('unknown-operation');
    await expect(client.request('session.list', { nonsense: 1 })).rejects.toThrow('invalid-request');
    await expect(client.request('screen.watch', { sessions: 'all' })).rejects.toThrow(
      'unsupported-capability',
    );
    await expect(client.request('workspace.unregister', { workspaceId: 'none' })).rejects.toThrow(
      'controller-required',
    );
    expect(await client.request('node.status', {})).toMatchObject({ home: roost.home });
  });
});

test('an older client starts nothing that it could not see', async () => {
  using client = await connect(OLDER);
  const { sessions } = await client.request<{ sessions: FrozenSession[] }>('session.list', {
    includeEnded: true,
  });
  const before = await roost.sessions();
  const launch = { kind: 'command', command: ['sleep', '60'] };
  await expect(client.request('session.spawn', { directory: roost.work, launch }, 'brief')).rejects.toThrow(
    'unsupported-capability',
  );
  expect(await roost.sessions()).toHaveLength(before.length);
  expect(sessions.every(({ provider }) => provider === 'claude')).toBe(true);
});

test('a client of versions that the node does not speak is told so', async () => {
  for (const protocol of [
    { min: 1, max: 1 },
    { min: 3, max: 4 },
  ])
    await expect(connect({ ...OLDER, protocol })).rejects.toThrow('unsupported-protocol');
});

function statusesOf(events: readonly FrozenEvent[], id: string): string[] {
  return events.flatMap(({ body }) => (body.session?.id === id ? [body.session.status] : []));
}
