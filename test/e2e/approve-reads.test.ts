/** examples/approve-reads.mjs, beside a node and through a hub: what only reads is allowed, what writes waits for a person. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addressOf, type Interaction } from '@roost/protocol';
import { ExampleProgram } from '../support/example-program.ts';
import { HubHome } from '../support/hub-home.ts';
import { putStandInAgent } from '../support/stand-in-agent.ts';
import { waitFor } from '../support/wait-for.ts';

const root = new URL('../../', import.meta.url).pathname;
const EXAMPLE = 'examples/approve-reads.mjs';

const hub = new HubHome();
let throughHub: Record<string, string>;

beforeAll(async () => {
  putStandInAgent(hub);
  await hub.up();
  await hub.link('local', 'online');
  const { token } = await hub.user('bot', 'operator');
  throughHub = { ...hub.environment, ROOST_HUB: hub.url, ROOST_TOKEN: token, ROOST_NODE: 'local' };
});
afterAll(() => hub[Symbol.asyncDispose]());

it('is short, and shown by the page as it is run here', () => {
  expect(readFileSync(`${root}${EXAMPLE}`, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(50);
  expect(readFileSync(`${root}docs/sdk.md`, 'utf8')).toContain(`node ${EXAMPLE}\n`);
});

it.each([
  ['beside the node', () => hub.environment],
  ['through the hub', () => throughHub],
])('allows what reads and leaves the rest, also after the node was lost: %s', async (place, environment) => {
  const [reader, writer] = [`reads ${place}`, `writes ${place}`].map((name) => name.replaceAll(' ', '-'));
  for (const name of [reader, writer])
    await hub.ok(['run', '--detach', '--pipe', '--name', name ?? '', 'qwen']);
  // One of each before it runs, and one of each after.
  await Promise.all([ask(reader, 'read'), ask(writer, 'edit')]);
  await using bot = new ExampleProgram(EXAMPLE, { cwd: root, env: environment() });
  await settled(reader, 1);
  expect((await settled(writer, 0)).map(({ tool, state }) => [tool, state])).toEqual([['edit', 'pending']]);

  process.kill(await hub.nodePid(), 'SIGKILL');
  await hub.ok(['up', '--no-hub']);
  await hub.link('local', 'online', 30_000);
  await ask(reader, 'search');
  const answered = await settled(reader, 2);
  expect(answered.map(({ tool, outcome, answeredBy }) => [tool, outcome, answeredBy]).sort()).toEqual([
    ['read', 'approved', 'person'],
    ['search', 'approved', 'person'],
  ]);
  expect((await settled(writer, 0)).map(({ state }) => state)).toEqual(['pending']);
  await bot.says(/search/);
  expect(bot.stdout).toMatch(/^read \w+: approved\nsearch \w+: approved\n$/);
  expect(bot.stderr).toBe('');
});

async function ask(name: string | undefined, tool: string): Promise<void> {
  await waitFor('the agent to be ready', async () =>
    /ready|done|idle/.test((await hub.session(name ?? '')).activity?.state ?? ''),
  );
  const prompt = { ...addressOf(await hub.session(name ?? '')), text: `ask ${tool}` };
  await hub.ok(['api', 'session.prompt', JSON.stringify(prompt)]);
  await waitFor('it to ask', async () => (await of(name)).some((one) => one.tool === tool));
}

async function of(name: string | undefined): Promise<Interaction[]> {
  const all = await hub.json<Interaction[]>(['answer', '--all']);
  return all.filter(({ sessionName }) => sessionName === name);
}

/** All that a session asked, once so much of it is settled. */
function settled(name: string | undefined, count: number): Promise<Interaction[]> {
  let all: Interaction[] = [];
  return waitFor(
    `${count} answers to ${name}`,
    async () => {
      all = await of(name);
      return all.filter(({ state }) => state !== 'pending').length >= count && all;
    },
    { state: () => all, timeoutMs: 30_000 },
  );
}
