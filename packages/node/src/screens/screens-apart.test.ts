/** Screens are a lane of their own: they take no place among the events, and each run of a session has its own. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  addressOf,
  OFFERED_CAPABILITIES,
  type NodeFrame,
  type Session,
  type SessionAddress,
} from '@roost/protocol';
import type { Daemon } from '../daemon.ts';
import { failureOf, startTestNode, TestClient, TestHome, waitFor } from '../node-for-test.ts';

/** Draws so many lines after each Enter. */
const DRAWING =
  '#!/bin/sh\n[ "$1" = --version ] && exec echo 2.1.197\necho ready\nwhile read x; do seq 1 4000; echo "drawn $x"; done\n';

let home: TestHome;
let daemon: Daemon;
let client: TestClient;

beforeEach(async () => {
  home = new TestHome();
  mkdirSync(join(home.path, 'bin'));
  writeFileSync(join(home.path, 'bin', 'claude'), DRAWING);
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

const spawn = () =>
  client.call('session.spawn', {
    directory: home.path,
    launch: { kind: 'provider', provider: 'claude', arguments: [] },
  });
const screensOf = ({ frames }: TestClient, { sessionId }: SessionAddress) =>
  frames.filter(
    (frame): frame is Extract<NodeFrame, { kind: 'screen' }> =>
      frame.kind === 'screen' && frame.session.sessionId === sessionId,
  );
const shows = (from: TestClient, session: Session, text: string) =>
  waitFor(
    () => screensOf(from, addressOf(session)).at(-1)?.frame.lines.join('\n').includes(text) === true,
    `the screen to show ${text}`,
  );

it('take no place in the journal and move no cursor, however many they are', async () => {
  const session = await spawn();
  await client.call('screen.watch', { sessions: 'all' });
  await client.call('events.subscribe', { after: 0 });
  await shows(client, session, 'ready');
  const before = await client.call('events.read', { after: 0 });
  for (let round = 1; round <= 20; round += 1) {
    await client.call('session.input', { ...addressOf(session), text: `${round}\r`, framing: 'raw' });
    await shows(client, session, `drawn ${round}`);
  }
  expect(screensOf(client, addressOf(session)).length).toBeGreaterThan(20);
  const after = await client.call('events.read', { after: 0 });
  expect(after).toEqual(before);
  expect(client.events).toEqual(after.events);
  expect(client.frames.filter(({ kind }) => kind === 'resync-required')).toEqual([]);
});

it('are told once each, newer ones only, and by the address of their run; the next run has its own', async () => {
  await client.call('screen.watch', { sessions: 'all' });
  const first = await spawn();
  await shows(client, first, 'ready');
  await client.call('session.input', { ...addressOf(first), text: 'x\r', framing: 'raw' });
  await shows(client, first, 'drawn x');
  await client.call('session.stop', { ...addressOf(first), force: true });
  const { session: second } = await client.call('record.resume', { recordId: first.recordId! });
  await shows(client, second, 'ready');
  for (const session of [first, second]) {
    const told = screensOf(client, addressOf(session));
    expect(told.every((frame) => frame.session.generation === session.generation)).toBe(true);
    const sequences = told.map(({ frame }) => frame.sequence);
    expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
  }
  const ofFirst = screensOf(client, addressOf(first)).length;
  await client.call('session.remove', addressOf(first));
  await client.call('session.input', { ...addressOf(second), text: 'y\r', framing: 'raw' });
  await shows(client, second, 'drawn y');
  expect(screensOf(client, addressOf(first))).toHaveLength(ofFirst);
});

it('are no business of a peer that does not know them', async () => {
  const capabilities = OFFERED_CAPABILITIES.filter((one) => one !== 'terminal-frame-events-v1');
  const peer = await TestClient.connect(daemon.socket, { capabilities });
  expect(await failureOf(peer.call('screen.watch', { sessions: 'all' }))).toBe('unsupported-capability');
  await client.call('screen.watch', { sessions: 'all' });
  const session = await spawn();
  await shows(client, session, 'ready');
  expect(peer.frames.filter(({ kind }) => kind === 'screen')).toEqual([]);
  peer.close();
});
