/** examples/approve-reads.mjs, beside a node and through a hub: what it lists is allowed, everything else waits for a person. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addressOf, type Interaction } from '@roost/protocol';
import {
  FakeNode,
  fakeEvent,
  scratchDirectory,
  type FakeConnection,
} from '../../packages/client/src/testing/fake-node.ts';
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
])(
  'allows what it was told and leaves the rest, also after the node was lost: %s',
  async (place, environment) => {
    const [reader, writer] = [`reads ${place}`, `writes ${place}`].map((name) => name.replaceAll(' ', '-'));
    for (const name of [reader, writer])
      await hub.ok(['run', '--detach', '--pipe', '--name', name ?? '', 'qwen']);
    // One of each before it runs, and one of each after.
    await Promise.all([ask(reader, 'read'), ask(writer, 'edit')]);
    await using bot = new ExampleProgram(EXAMPLE, {
      cwd: root,
      // What writes is allowed to another provider.
      env: { ...environment(), APPROVE: 'qwen:read qwen:search claude:edit' },
    });
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
    expect(bot.stdout).toMatch(/^qwen:read \w+: approved\nqwen:search \w+: approved\n$/);
    expect(bot.stderr).toBe('');
  },
);

it('allows Claude Code alone its reading tools, and looks again while an answer does not hold all that waits', async () => {
  await using scratch = await scratchDirectory();
  const waiting = [
    'claude:Write',
    'claude:Read',
    'claude:Glob',
    'codex:Read',
    'claude:read',
    'qwen:read',
    'claude:Grep',
  ].map(asksFor);
  const journal: string[] = [];
  let follower: FakeConnection | undefined;
  const node = await FakeNode.listen({
    socketPath: join(scratch.path, 'node.sock'),
    onRequest: ({ id, operation, params }, peer) => {
      const answer = (result: unknown) => peer.send(JSON.stringify({ kind: 'response', id, result }));
      if (operation === 'interaction.list')
        answer({ interactions: waiting.slice(0, 3), truncated: waiting.length > 3 });
      else if (operation === 'interaction.resolve')
        answer(settle((params as { interactionId: string }).interactionId, 'approved'));
      else if (operation === 'events.subscribe') {
        answer({ last: journal.length, floor: 1, resyncRequired: false });
        for (const frame of journal) peer.send(frame);
        follower = peer;
      }
    },
  });
  const settle = (interactionId: string, outcome: string) => {
    const [one] = waiting.splice(
      waiting.findIndex(({ id }) => id === interactionId),
      1,
    );
    const settled = { ...one, state: 'answered', outcome, answeredBy: 'person', settledAt: fakeEvent(1).at };
    const body = { kind: 'interaction-changed', interaction: settled };
    const frame = JSON.stringify({ kind: 'event', event: { ...fakeEvent(journal.length + 1), body } });
    journal.push(frame);
    follower?.send(frame);
    return settled;
  };
  const names = () => waiting.map(({ provider, tool }) => `${provider}:${tool}`);
  const env = { PATH: process.env.PATH ?? '', ROOST_HOME: scratch.path };
  try {
    await using bot = new ExampleProgram(EXAMPLE, { cwd: root, env });
    await waitFor('it to follow', () => follower, { state: () => bot.stderr });
    expect(names()).toEqual(['claude:Write', 'codex:Read', 'claude:read', 'qwen:read', 'claude:Grep']);
    // A person answers what hid the last one.
    for (const { id } of waiting.slice(0, 2)) settle(id, 'refused');
    await bot.says(/claude:Grep/);
    expect(names()).toEqual(['claude:read', 'qwen:read']);
    expect(bot.stdout.replaceAll(/ \w+:/g, '')).toBe(
      'claude:Read approved\nclaude:Glob approved\nclaude:Grep approved\n',
    );
  } finally {
    await node.close();
  }
});

function asksFor(name: string, index: number) {
  const [provider = '', tool = ''] = name.split(':');
  return {
    id: (index + 1).toString(16).padStart(24, '0'),
    session: { workspaceId: 'w', sessionId: '0123456789abcdef', generation: 1 },
    provider,
    interaction: 'approval',
    tool,
    state: 'pending',
    askedAt: '2026-01-01T00:00:00.000Z',
    expiresAt: null,
    settledAt: null,
    outcome: null,
    answeredBy: null,
    sessionName: 'one',
    title: tool,
    detail: '',
    options: [],
  };
}

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
