/** Prompts to a program called claude, which draws a composer as Claude Code does and reports when it is told to. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addressOf, type FailureError, type ParamsInput, type Session } from '@roost/protocol';
import type { Daemon } from '../daemon.ts';
import { failureOf, startTestNode, TestClient, TestHome, waitFor } from '../node-for-test.ts';
import { installAgent } from './composing-agent-for-test.ts';

let home: TestHome;
let daemon: Daemon;
let client: TestClient;

beforeEach(async () => {
  home = new TestHome();
  daemon = await startTestNode(home, { environment: { ...process.env, PATH: installAgent(home.path) } });
  client = await TestClient.connect(daemon.socket);
});
afterEach(async () => {
  client.close();
  await daemon.stop();
  await home.remove();
});

let session: Session;
const launch = async (...args: string[]) => {
  session = await client.call('session.spawn', {
    directory: home.path,
    launch: { kind: 'provider', provider: 'claude', arguments: args },
  });
};
const activity = async () => (await client.call('session.list', {})).sessions[0]?.activity;
const becomes = (state: string, reason: string | null = null) =>
  waitFor(
    async () => {
      const now = await activity();
      return now?.state === state && now.reason === reason;
    },
    `${state} ${reason ?? ''}`,
  );
const screen = async () =>
  (await client.call('session.readScreen', { sessionId: session.id, scrollback: 0 })).lines.join('\n');
const shows = (text: string) => waitFor(async () => (await screen()).includes(text), text);
const type = (text: string) => client.call('session.input', { ...addressOf(session), text, framing: 'raw' });
type Asked = Omit<ParamsInput<'session.prompt'>, 'workspaceId' | 'sessionId' | 'generation'>;
const prompt = (asked: Asked) => client.call('session.prompt', { ...addressOf(session), ...asked });
const reasonOf = async (call: Promise<unknown>) => {
  const error = await call.then(
    () => null,
    (failed: unknown) => failed as FailureError,
  );
  return `${error?.failure.code} ${String(error?.failure.details?.reason ?? '')}`.trim();
};

describe('a prompt', () => {
  it('is accepted when the agent reports it or is seen at work, and answered when that is over', async () => {
    await launch();
    await becomes('ready');
    expect(await prompt({ text: 'only work', until: 'accepted' })).toMatchObject({ delivery: 'accepted' });
    await becomes('done');
    expect(await prompt({ text: 'report a\nsecond line', until: 'accepted' })).toMatchObject({
      delivery: expect.stringMatching(/accepted|answered/),
    });
    await becomes('done');
    expect(await prompt({ text: 'work and report', until: 'answered' })).toMatchObject({
      delivery: 'answered',
    });
    await shows('got [work and report]');
  });

  it('is said to be written, and no more, when nothing tells of it in time', async () => {
    await launch();
    await becomes('ready');
    expect(await prompt({ text: 'nothing', until: 'answered', waitMs: 300 })).toMatchObject({
      delivery: 'written',
      bytesWritten: expect.any(Number),
    });
    await shows('got [nothing]');
    expect(await prompt({ text: 'other report', until: 'accepted', waitMs: 300 })).toMatchObject({
      delivery: 'written',
    });
  });

  it('is sent by another Enter where the first one only completes what it ends with', async () => {
    await launch();
    await becomes('ready');
    expect(await prompt({ text: 'work on file:', until: 'answered' })).toMatchObject({
      delivery: 'answered',
    });
    await shows('got [work on file ]');
  });

  it('ends in a blank where Enter would do something else with its end', async () => {
    await launch();
    await becomes('ready');
    expect(await prompt({ text: 'work on @file', until: 'answered' })).toMatchObject({
      delivery: 'answered',
    });
    await shows('got [work on @file ]');
    expect(await prompt({ text: 'work in C:\\', until: 'answered' })).toMatchObject({ delivery: 'answered' });
    await shows('got [work in C:\\ ]');
  });

  it('is refused while a dialog is up, and does not answer it', async () => {
    await launch('--ask-first');
    expect(await reasonOf(prompt({ text: 'work' }))).toBe('agent-not-ready starting');
    await becomes('blocked', 'trust');
    const before = await screen();
    expect(await reasonOf(prompt({ text: 'work' }))).toBe('agent-not-ready trust');
    expect(await reasonOf(prompt({ text: 'work', until: 'answered' }))).toBe('agent-not-ready trust');
    expect(await screen()).toBe(before);
    await type('\r');
    await becomes('ready');
    expect(await prompt({ text: 'work', until: 'accepted' })).toMatchObject({ delivery: 'accepted' });
  });

  it('is never put behind what somebody has begun to type', async () => {
    await launch();
    await becomes('ready');
    await type('half a tho');
    await shows('half a tho');
    expect(await failureOf(prompt({ text: 'work' }))).toBe('composer-occupied');
    await type('ught');
    await shows('half a thought');
    expect(await screen()).not.toMatch(/work|got/);
    await type('\x15');
    await waitFor(async () => !(await screen()).includes('half'), 'an empty composer');
    expect(await prompt({ text: 'work', until: 'answered' })).toMatchObject({ delivery: 'answered' });
    await shows('got [work]');
  });

  it('is refused while a turn runs, and while another one is on its way', async () => {
    await launch();
    await becomes('ready');
    const both = await Promise.allSettled([prompt({ text: 'work 1' }), prompt({ text: 'work 2' })]);
    const codes = both.map((one) =>
      one.status === 'fulfilled' ? 'written' : (one.reason as FailureError).failure.code,
    );
    expect(codes.sort()).toEqual(['turn-in-flight', 'written']);
    expect(await failureOf(prompt({ text: 'work 3' }))).toBe('turn-in-flight');
    await becomes('done');
    expect(await prompt({ text: 'work 4', until: 'answered' })).toMatchObject({ delivery: 'answered' });
    await shows('got [work 4]');
  });

  it('of which the session ends is said to have come as far as it did', async () => {
    await launch();
    await becomes('ready');
    const asked = prompt({ text: 'nothing', until: 'accepted', waitMs: 60_000 });
    await shows('got [nothing]');
    await client.call('session.stop', { ...addressOf(session), force: true });
    expect(await asked).toMatchObject({ delivery: 'written' });
  });
});

it('an agent tells by its hooks which of its sessions it is; its record follows', async () => {
  await launch();
  await becomes('ready');
  const told = async () =>
    (await client.call('record.list', {})).records.map((one) => one.providerSession?.id);
  const [assigned] = await told();
  expect(assigned).toMatch(/^[0-9a-f-]{36}$/);
  const reports = join(home.path, 'sessions', session.id, 'reports');
  writeFileSync(
    join(reports, '1.json'),
    JSON.stringify({ hook_event_name: 'SessionStart', source: 'clear', session_id: 'another-one' }),
  );
  await waitFor(async () => (await told()).includes('another-one'), 'the record of the new session');
  writeFileSync(
    join(reports, '2.json'),
    JSON.stringify({ hook_event_name: 'SessionStart', session_id: '../no id' }),
  );
  await prompt({ text: 'report', until: 'answered' });
  expect((await told()).sort()).toEqual([assigned, 'another-one'].sort());
});
