/** What a launch begins with, typed into the real agents: behind their dialogs, through a crash of the node, once. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HOMES, startMockModelServer, type MockModelServer, type TerminalCliName } from '@roost/lab';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FULL_ATTACK } from '../support/counts.ts';
import { processes } from '../support/process-facts.ts';
import { INSTALL_MS, putOnPath } from '../support/real-cli.ts';
import { RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

/** A word that no other process has. */
const MARK = `mark-${process.pid}`;
/** As an argument, an option of most. */
const FIRST = `-p count ${'and on, line by line\n'.repeat(20)}to the ${MARK}`;
/** Enter would complete the name of the file. */
const NEXT = `--version ${MARK} again, of @README.md`;

/** Dialogs before the composer, and the keys that answer them. */
type Story = readonly [TerminalCliName, readonly (readonly [reason: string, key: readonly string[]])[]];
const STORIES: readonly Story[] = [
  [
    'claude',
    [
      ['trust', ['--key', 'enter']],
      ['api-key', ['1']],
    ],
  ],
  ['codex', [['trust', ['--key', 'enter']]]],
  ['gemini', [['trust', ['1']]]],
  ['opencode', []],
  ['qwen', []],
];
/** Small enough to install anywhere. */
const ALWAYS: readonly TerminalCliName[] = ['claude', 'codex'];

/** Milliseconds for a turn: in a fresh home, opencode 1.18.33 was seen to ask its model only after more than a minute. */
const TURN_MS = 180_000;

let roost: RoostHome;
let server: MockModelServer;
beforeEach(async () => {
  roost = new RoostHome();
  server = await startMockModelServer({ defaultReply: { kind: 'text', text: 'counted', delayMs: 200 } });
});
afterEach(async () => {
  await roost[Symbol.asyncDispose]();
  await server.close();
});

const becomes = (wanted: string) =>
  waitFor(
    `the agent to be ${wanted}`,
    async () => {
      // The run before it has its name, too.
      const activity = (await roost.sessions()).at(-1)?.activity;
      return `${activity?.state} ${activity?.reason ?? ''}`.trim() === wanted;
    },
    { timeoutMs: TURN_MS, everyMs: 200, state: async () => (await roost.screen('agent')).split('\n') },
  );
const told = (text: string) => server.requests.filter(({ prompt }) => prompt.includes(text));
const isArgument = () => processes().some(({ words }) => words.join(' ').includes(MARK));

it.for(STORIES)(
  '%s: its first prompt waits behind its dialogs and through kill -9 of the node, arrives whole, and is no argument',
  { timeout: INSTALL_MS },
  async ([provider, dialogs], context) => {
    if (!ALWAYS.includes(provider) && !FULL_ATTACK)
      context.skip('only with ROOST_ATTACK=full: it is large to install');
    await putOnPath(provider, roost, context);
    execFileSync('git', ['init', '-q', roost.work]);
    writeFileSync(join(roost.work, 'README.md'), 'one\n');
    const home = join(roost.root, 'agent-home');
    mkdirSync(home);
    Object.assign(roost.environment, await HOMES[provider]({ home, baseUrl: server.url }));
    const profiles = join(roost.home, 'profiles', 'spawn');
    mkdirSync(profiles, { recursive: true, mode: 0o700 });
    writeFileSync(join(profiles, 'first.json'), JSON.stringify({ provider, prompt: FIRST }));

    await roost.ok(['run', '--profile', 'first', '--detach', '--name', 'agent']);
    expect((await roost.roost(['prompt', 'agent', 'too early'])).stderr).toContain('turn-in-flight');
    for (const [reason, key] of dialogs) {
      await becomes(`blocked ${reason}`);
      process.kill(await roost.nodePid(), 'SIGKILL');
      await becomes(`blocked ${reason}`);
      expect([told(MARK).length, isArgument()]).toEqual([0, false]);
      await roost.ok(['send', 'agent', ...key]);
    }
    await becomes('done');
    expect(told(FIRST).length).toBeGreaterThan(0);
    expect(isArgument()).toBe(false);

    await roost.ok(['stop', 'agent']);
    await roost.ok(['resume', 'agent', '--detach', '--prompt', NEXT]);
    await waitFor('the next prompt', () => told(NEXT).length > 0, {
      timeoutMs: TURN_MS,
      state: async () => (await roost.screen('agent')).split('\n'),
    });
    await becomes('done');
    expect(isArgument()).toBe(false);
    // What was said before is said again to the model, and was said once.
    const said = JSON.stringify(told(NEXT).at(-1)?.body).split(`line by line\\nto the ${MARK}`);
    expect(said).toHaveLength(2);
    expect(told('too early')).toEqual([]);
  },
);
