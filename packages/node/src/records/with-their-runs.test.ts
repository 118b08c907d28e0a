/** A record and its run change together: whoever reads the events never sees one of them without the other. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { addressOf, type EventBody } from '@roost/protocol';
import type { Daemon } from '../daemon.ts';
import { startTestNode, TestClient, TestHome, waitFor } from '../node-for-test.ts';

let home: TestHome;
let daemon: Daemon;
let client: TestClient;

beforeEach(async () => {
  home = new TestHome();
  mkdirSync(join(home.path, 'bin'));
  writeFileSync(
    join(home.path, 'bin', 'claude'),
    '#!/bin/sh\n[ "$1" = --version ] && exec echo 2.1.197\nexec cat\n',
  );
  chmodSync(join(home.path, 'bin', 'claude'), 0o755);
  daemon = await startTestNode(home, {
    environment: { PATH: `${join(home.path, 'bin')}:${process.env.PATH}`, HOME: home.path },
  });
  client = await TestClient.connect(daemon.socket);
});
afterEach(async () => {
  client.close();
  await daemon.stop();
  await home.remove();
});

type Change = Extract<EventBody, { kind: 'session-changed' | 'record-changed' }>;

it('whenever a run comes to live or ends, its record says so in the event beside it', async () => {
  const { lastEventSequence: after } = await client.call('node.status', {});
  const first = await client.call('session.spawn', {
    directory: home.path,
    launch: { kind: 'provider', provider: 'claude', arguments: [] },
  });
  await client.call('session.stop', { ...addressOf(first), force: true });
  const { session: second } = await client.call('record.resume', { recordId: first.recordId! });
  process.kill(second.pid!, 'SIGKILL');
  await client.call('session.wait', { sessionId: second.id, waitMs: 15_000 });
  const isAtRest = async () => {
    const { records } = await client.call('record.list', {});
    return records[0]?.state === 'dormant';
  };
  await waitFor(isAtRest, 'the record to rest');

  const { events } = await client.call('events.read', { after });
  const changes = events
    .map(({ body }) => body)
    .filter((body): body is Change => body.kind.endsWith('-changed'));
  const runs = [first, second].map(({ id }) => id as string);
  /** Of each event, what it says of whether a run of the record lives. */
  const told = changes.map((body) => {
    if (body.kind === 'record-changed')
      return { of: 'record', run: body.record.activeSession?.sessionId ?? null };
    const lives = ['starting', 'running', 'stopping'].includes(body.session.status);
    return { of: 'session', run: lives ? body.session.id : null };
  });
  let now: { record: string | null; session: string | null } = { record: null, session: null };
  const apart: number[] = [];
  told.forEach((one, index) => {
    now = { ...now, [one.of]: one.run };
    if (now.record !== now.session) apart.push(index);
  });
  expect(told.filter(({ of }) => of === 'record').map(({ run }) => run)).toEqual(
    expect.arrayContaining([runs[0], null, runs[1], null]),
  );
  // Between the two events of one change, and never longer.
  apart.forEach((index, at) => expect(apart[at + 1]).not.toBe(index + 1));
  expect(now).toEqual({ record: null, session: null });
});
