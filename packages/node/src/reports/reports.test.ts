/** Reports as an agent makes them: a program called claude that runs the hooks it was given, with what the test types. */
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { addressOf, type Session } from '@roost/protocol';
import type { Daemon } from '../daemon.ts';
import { startTestNode, TestClient, TestHome, waitFor } from '../node-for-test.ts';
import { reportsDirectory } from './reports.ts';

const AGENT = `
import { readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
const file = process.argv[process.argv.indexOf('--settings') + 1];
const { hooks } = JSON.parse(readFileSync(file, 'utf8'));
process.stdin.setRawMode(true);
let typed = '';
process.stdout.write('ready\\r\\n');
process.stdin.on('data', (bytes) => {
  typed += bytes;
  for (let end; (end = typed.indexOf('\\r')) >= 0; typed = typed.slice(end + 1)) {
    const report = typed.slice(0, end);
    const [{ hooks: [hook] }] = hooks[/"hook_event_name":"(\\w+)"/.exec(report)?.[1] ?? 'Stop'];
    const { status, stdout, stderr } = spawnSync('sh', ['-c', hook.command], { input: report });
    process.stdout.write(\`hook \${status} [\${stdout}\${stderr}]\\r\\n\`);
  }
});
`;

let home: TestHome;
let daemon: Daemon;
let client: TestClient;
let session: Session;

const start = async () => {
  daemon = await startTestNode(home, {
    environment: { ...process.env, PATH: `${join(home.path, 'bin')}:${process.env.PATH ?? ''}` },
  });
  client = await TestClient.connect(daemon.socket);
};

beforeEach(async () => {
  home = new TestHome();
  mkdirSync(join(home.path, 'bin'));
  writeFileSync(join(home.path, 'agent.mjs'), AGENT);
  const script = `#!/bin/sh\n[ "$1" = --version ] && exec echo 2.1.197\nexec '${process.execPath}' '${join(home.path, 'agent.mjs')}' "$@"\n`;
  writeFileSync(join(home.path, 'bin', 'claude'), script);
  chmodSync(join(home.path, 'bin', 'claude'), 0o755);
  await start();
  session = await client.call('session.spawn', {
    directory: home.path,
    launch: { kind: 'provider', provider: 'claude', arguments: [] },
  });
  await waitFor(async () => (await screen()).includes('ready'), 'the agent');
});
afterEach(async () => {
  client.close();
  await daemon.stop();
  await home.remove();
});

const screen = async () =>
  (await client.call('session.readScreen', { sessionId: session.id, scrollback: 100 })).lines.join('\n');
const report = (fields: Readonly<Record<string, unknown>>) =>
  client.call('session.input', {
    ...addressOf(session),
    text: `${JSON.stringify(fields)}\r`,
    framing: 'raw',
  });
const activity = async () => {
  const { sessions } = await client.call('session.list', {});
  const { state, reason, detail, source } = sessions[0]?.activity ?? {};
  return { state, reason, detail, source };
};
const becomes = (wanted: Awaited<ReturnType<typeof activity>>) =>
  waitFor(async () => JSON.stringify(await activity()) === JSON.stringify(wanted), JSON.stringify(wanted));
const plain = { reason: null, detail: null, source: 'hooks' } as const;

const reports = () => reportsDirectory(join(home.path, 'sessions'), session.id);

it('tells what the agent is doing from its own words, and keeps none of them', async () => {
  await client.call('events.subscribe', { after: 0 });
  await report({ hook_event_name: 'UserPromptSubmit', prompt: 'canary' });
  await becomes({ state: 'working', ...plain });
  await report({
    hook_event_name: 'PermissionRequest',
    tool_name: 'Bash',
    tool_input: { command: 'cat canary' },
  });
  await becomes({ state: 'blocked', reason: 'approval', detail: 'Bash', source: 'hooks' });
  const used = { tool_name: 'Bash', tool_use_id: 't1', tool_response: 'canary' };
  await report({ hook_event_name: 'PostToolUse', ...used });
  await becomes({ state: 'working', ...plain });
  const failed = { error: 'server_error', last_assistant_message: 'canary' };
  await report({ hook_event_name: 'StopFailure', ...failed });
  await becomes({ state: 'blocked', reason: 'error', detail: 'server_error', source: 'hooks' });
  await report({ hook_event_name: 'UserPromptSubmit', prompt: 'canary' });
  await becomes({ state: 'working', ...plain });
  await report({ hook_event_name: 'Stop' });
  await becomes({ state: 'done', ...plain });
  await client.call('session.acknowledge', addressOf(session));
  await becomes({ state: 'idle', ...plain });
  expect(readdirSync(reports())).toEqual([]);
  expect(await screen()).not.toMatch(/hook [1-9]|hook 0 \[.+\]/);
  const told = () => JSON.stringify(client.events);
  await waitFor(() => told().includes('"state":"idle"'), 'the last event');
  expect(told()).toContain('server_error');
  expect(told()).not.toContain('canary');
});

it('finds what was reported while no node ran, in its order', async () => {
  client.close();
  await daemon.stop();
  for (const [name, fields] of [
    ['10', { hook_event_name: 'UserPromptSubmit', prompt: 'x' }],
    ['9', { hook_event_name: 'StopFailure', error: 'rate_limit', last_assistant_message: 'canary' }],
  ] as const) {
    const path = join(reports(), `${name}.json`);
    writeFileSync(path, JSON.stringify(fields));
    utimesSync(path, 0, 1_000_000_000 - Number(name));
  }
  await start();
  await becomes({ state: 'blocked', reason: 'quota', detail: 'rate_limit', source: 'hooks' });
});

it('drops what is no report, and goes on', async () => {
  writeFileSync(join(reports(), 'a.json'), 'no JSON');
  writeFileSync(join(reports(), 'b.json'), '"text"');
  writeFileSync(join(reports(), 'c.json'), Buffer.alloc(2 * 1024 * 1024, ' '));
  mkdirSync(join(reports(), 'd.json'));
  await report({ hook_event_name: 'Notification', message: 'of something new' });
  await report({ hook_event_name: 'UserPromptSubmit' });
  await becomes({ state: 'working', ...plain });
});

it('says nothing outside of Roost, and disturbs nobody when the directory is gone', async () => {
  rmSync(reports(), { recursive: true });
  await report({ hook_event_name: 'UserPromptSubmit' });
  await waitFor(async () => (await screen()).includes('hook 0 []'), 'the hook to end');
  expect(existsSync(reports())).toBe(false);
});
