import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  claudeEnvironment,
  HOMES,
  passFirstRunScreens,
  startMockModelServer,
  type MockModelServer,
} from '@roost/lab';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isAlive, RoostHome } from '../support/roost-home.ts';
import { FULL_ATTACK } from '../support/counts.ts';
import { asFlags, INSTALL_MS, putOnPath } from '../support/real-cli.ts';
import { waitFor } from '../support/wait-for.ts';

const ANSWER = 'MOCKED-ANSWER-42';

let roost: RoostHome;
let server: MockModelServer;
beforeEach(async () => {
  roost = new RoostHome();
  server = await startMockModelServer({ defaultReply: { kind: 'text', text: ANSWER } });
});
afterEach(async () => {
  await roost[Symbol.asyncDispose]();
  await server.close();
});

async function killNodeAndStartAgain(): Promise<void> {
  const pid = await roost.nodePid();
  process.kill(pid, 'SIGKILL');
  await waitFor('the node to be gone', () => !isAlive(pid));
  await roost.ok(['up', '--no-hub']);
}

describe('a real agent in a Roost terminal', () => {
  // The first two by their provider, the others as plain commands.
  it.for([
    ['claude', ['claude'], 'asks first'],
    ['codex', ['codex', '--', '--no-daemon'], 'asks first'],
    ['gemini', ['--', 'gemini', '--skip-trust'], 'asks nothing'],
    ['opencode', ['--', 'opencode'], 'asks nothing'],
    ['qwen', ['--', 'qwen'], 'asks nothing'],
  ] as const)(
    '%s: first-run screens, prompt, answer, detach, node restart, attach: the same process and screen',
    { timeout: INSTALL_MS },
    async ([name, run, asks], context) => {
      if (asks === 'asks nothing' && !FULL_ATTACK)
        context.skip('only with ROOST_ATTACK=full: it is large to install');
      await putOnPath(name, roost, context);
      execFileSync('git', ['init', '-q', roost.work]);
      const home = join(roost.root, 'agent-home');
      mkdirSync(home);
      const environment = await HOMES[name]({ home, baseUrl: server.url });
      await roost.ok(['run', '--detach', '--name', 'agent', ...asFlags(environment), ...run]);
      const session = await roost.session('agent');

      const first = roost.terminal(['attach', 'agent'], { columns: 100, rows: 30 });
      const screens = await passFirstRunScreens(name, {
        readScreen: () => first.text(),
        sendKeys: (bytes) => {
          first.type(bytes);
        },
        deadlineMs: 60_000,
      });
      expect(screens.screens.length > 0).toBe(asks === 'asks first');
      await roost.ok(['send', 'agent', 'say something', '--paste']);
      await first.shows(/say something/);
      // Three of them take an Enter close behind a paste for a part of it.
      await delay(600);
      await roost.ok(['send', 'agent', '--key', 'enter']);
      // OpenCode looks around the machine before its first answer.
      await first.shows(new RegExp(ANSWER), 90_000);
      expect(server.requests.some(({ prompt }) => prompt.includes('say something'))).toBe(true);

      // The screen must have come to rest before it is compared.
      let before = '';
      await waitFor(
        'the screen to rest',
        async () => {
          const now = await first.text();
          const rests = now === before;
          before = now;
          return rests;
        },
        { everyMs: 500 },
      );
      first.type('\x1cd');
      expect(await first.ended()).toBe(0);

      await killNodeAndStartAgain();
      expect(await roost.session('agent')).toMatchObject({ status: 'running', pid: session.pid });
      const second = roost.terminal(['attach', 'agent'], { columns: 100, rows: 30 });
      await waitFor('the same screen', async () => (await second.text()) === before, {
        state: async () => ({ before: before.split('\n'), after: await second.lines() }),
      });
      await roost.ok(['stop', 'agent']);
      expect(isAlive(session.pid ?? 0)).toBe(false);
    },
  );

  it(
    'claude -p in a pipe session delivers all its JSON lines across a node restart',
    async (context) => {
      await putOnPath('claude', roost, context);
      const slow = await startMockModelServer({
        defaultReply: {
          kind: 'text',
          text: 'one two three four five six seven eight nine ten',
          delayMs: 300,
        },
      });
      try {
        const home = join(roost.root, 'agent-home');
        mkdirSync(home);
        const environment = await claudeEnvironment({ home, baseUrl: slow.url });
        const flags = [
          '-p',
          '--output-format',
          'stream-json',
          '--verbose',
          '--include-partial-messages',
          'count',
        ];
        await roost.ok([
          'run',
          '--detach',
          '--pipe',
          '--name',
          'pipe',
          ...asFlags(environment),
          // As a command: by its name it would be spoken with.
          '--',
          'claude',
          ...flags,
        ]);
        const { id } = await roost.session('pipe');
        await waitFor(
          'the first lines',
          async () => {
            const read = { sessionId: id, stream: 'stdout', offset: 0 } as const;
            const { base64 } = await roost.request('session.readOutput', read);
            return Buffer.from(base64, 'base64').includes('"init"');
          },
          { timeoutMs: 60_000 },
        );
        await killNodeAndStartAgain();
        const ended = await waitFor(
          'the end',
          async () => {
            const session = await roost.session('pipe');
            return session.status === 'exited' ? session : null;
          },
          { timeoutMs: 60_000 },
        );
        expect(ended.exitCode).toBe(0);
        const lines = (await roost.ok(['logs', 'pipe', '--lines', '100000']))
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as { type: string; event?: { delta?: { text?: string } } });
        expect(lines.map(({ type }) => type)).toEqual(
          expect.arrayContaining(['system', 'stream_event', 'assistant', 'result']),
        );
        expect(lines.map(({ event }) => event?.delta?.text ?? '').join('')).toContain(
          'one two three four five six seven eight nine ten',
        );
        expect(lines.at(-1)).toMatchObject({ type: 'result', is_error: false });
      } finally {
        await slow.close();
      }
    },
    INSTALL_MS,
  );
});
