/** The programs of docs/sdk.md: each runs as it stands there, beside a node and its hub, and does what the page says. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { browserPath, openBrowser } from '../support/browser.ts';
import { ExampleProgram, programDirectory } from '../support/example-program.ts';
import { HubHome } from '../support/hub-home.ts';
import { pageBlocks } from '../support/page-blocks.ts';
import { putStandInAgent } from '../support/stand-in-agent.ts';
import { waitFor } from '../support/wait-for.ts';

const BROWSER_ENTRY = new URL('../../packages/client/dist/browser.js', import.meta.url).pathname;
const chromium = browserPath();
const blocks = pageBlocks('sdk.md', 'js');

const hub = new HubHome();
let cwd = '';
let env: Record<string, string>;

beforeAll(async () => {
  putStandInAgent(hub);
  await hub.up();
  await hub.link('local', 'online');
  const { token } = await hub.user('ann', 'operator');
  cwd = programDirectory(hub.root);
  env = { ...hub.environment, ROOST_HUB: hub.url, ROOST_TOKEN: token };
  await hub.run('shell', ['bash', '--norc']);
  await hub.ok(['run', '--detach', '--pipe', '--name', 'helper', 'qwen']);
});
afterAll(() => hub[Symbol.asyncDispose]());
beforeEach(() => helperIs('ready|done|idle'));

it('connects to the node of this machine', async () => {
  const said = await run('The node of this machine');
  expect(said).toMatch(/^shell \S+ running$/m);
  expect(said).toMatch(/^helper qwen running$/m);
});

it('works through a hub', async () => {
  const said = await run('Through a hub');
  expect(said).toMatch(/^local\/shell running$/m);
  expect(said).toMatch(/^local runs \d\S* and lets us act as operator$/m);
});

it('asks an agent', async () => {
  expect(await run('Ask an agent')).toBe('completed hello to everybody \n');
});

it('follows what happens through the death of the node, and goes on where it was', async () => {
  await using first = ExampleProgram.of(program('Follow what happens'), { cwd, env });
  await first.says(/session-changed/);
  process.kill(await hub.nodePid(), 'SIGKILL');
  await hub.ok(['up', '--no-hub']);
  await hub.run('one', ['true']);
  expect(await first.ended()).toBe(0);
  await using second = ExampleProgram.of(program('Follow what happens'), { cwd, env });
  await hub.run('two', ['true']);
  expect(await second.ended()).toBe(0);
  const sequences = [...`${first.stdout}${second.stdout}`.matchAll(/^(\d+) /gm)].map(([, text]) =>
    Number(text),
  );
  expect(first.stdout).toMatch(/^\d+ node-started$[\s\S]*^\d+ node-started$/m);
  expect(sequences).toEqual(sequences.map((_, index) => (sequences[0] ?? 0) + index));
});

it('drives a terminal', async () => {
  expect(await run('A terminal')).toMatch(/^seen true$/m);
});

it('answers what an agent asks', async () => {
  await hub.ok(['api', 'session.prompt', JSON.stringify({ ...(await helper()), text: 'ask execute' })]);
  await waitFor('the agent to ask', async () => (await hub.json<unknown[]>(['answer'])).length === 1);
  expect(await run('Answer what an agent asks')).toBe('helper execute execute refused\n');
});

it('tells what is refused', async () => {
  expect(await run('What is refused')).toMatch(/^unknown-session - [A-Z]/);
});

it('works in programs without modules of Node', async () => {
  expect(await run('In a browser', 1)).toMatch(/^shell running\nworkspaces \d+$/m);
});

it.skipIf(chromium === null)('works in a page of the hub', async () => {
  const { url: login } = await hub.json<{ url: string }>(['hub', 'login']);
  const browser = await openBrowser(chromium ?? '', hub.root);
  try {
    const page = await browser.newPage();
    const said: string[] = [];
    page.on('console', (message) => said.push(message.text()));
    page.on('pageerror', (error) => said.push(error.message));
    await page.goto(login);
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    const answerWith = (path: string, body: string) =>
      page.route(`**${path}`, (route) => route.fulfill({ contentType: 'text/javascript', body }));
    await answerWith('/roost-client.js', readFileSync(BROWSER_ENTRY, 'utf8'));
    await answerWith(
      '/example.js',
      program('In a browser', 0).replace('@roost/client/browser', '/roost-client.js'),
    );
    await page.addScriptTag({ url: '/example.js', type: 'module' });
    await waitFor('the page to follow', () => said.includes('events connected'), { state: () => said });
    expect(said).toEqual(expect.arrayContaining(['session shell running', 'a line as operator']));
  } finally {
    await browser.close();
  }
});

it('has no program that is not run here', () => {
  const places = new Map<string, number>();
  const shown = blocks.map(({ heading }) => {
    const place = places.get(heading) ?? 0;
    places.set(heading, place + 1);
    return `${heading} ${place}`;
  });
  const test = readFileSync(new URL(import.meta.url), 'utf8');
  const calls = test.matchAll(/\b(?:run|program)\('([^']+)'(?:, (\d+))?\)/g);
  const ran = new Set([...calls].map(([, heading, place = '0']) => `${heading} ${place}`));
  expect([...ran].sort()).toEqual(shown.sort());
  // No language but these: one block of commands, and the programs.
  expect(pageBlocks('sdk.md', 'sh')).toHaveLength(1);
  const fences = readFileSync(new URL('../../docs/sdk.md', import.meta.url), 'utf8').match(/^ *[`~]{3,}/gm);
  expect(fences).toHaveLength(2 * (shown.length + 1));
});

function program(heading: string, place = 0): string {
  const block = blocks.filter((one) => one.heading === heading)[place];
  if (block === undefined) throw new Error(`docs/sdk.md has no such program: ${heading}`);
  return block.code;
}

/** What it says, once it has ended well. */
async function run(heading: string, place?: number): Promise<string> {
  await using running = ExampleProgram.of(program(heading, place), { cwd, env });
  const code = await running.ended();
  expect({ code, stderr: running.stderr }).toEqual({ code: 0, stderr: '' });
  return running.stdout;
}

async function helper() {
  const { id: sessionId, workspaceId, generation } = await hub.session('helper');
  return { sessionId, workspaceId, generation };
}

function helperIs(states: string): Promise<unknown> {
  let state: string | undefined;
  return waitFor(
    'the agent to be ready',
    async () => {
      state = (await hub.session('helper')).activity?.state;
      return new RegExp(states).test(state ?? '');
    },
    { state: () => state },
  );
}
