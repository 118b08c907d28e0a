import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  HOMES,
  startMockModelServer,
  type MockModelServer,
  type MockReply,
  type RecordedRequest,
  type TerminalCliName,
  type ToolCall,
} from '@roost/lab';
import type { NodeConnection } from '@roost/client';
import { addressOf, FailureError, type PromptDelivery, type Session } from '@roost/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FULL_ATTACK } from '../support/counts.ts';
import { connectTo } from '../support/node-client.ts';
import { ProviderRun } from '../support/provider-matrix.ts';
import { asFlags, INSTALL_MS, putOnPath } from '../support/real-cli.ts';
import { RoostHome } from '../support/roost-home.ts';
import { ToldStates } from '../support/told-states.ts';
import { waitFor } from '../support/wait-for.ts';

const TURN: MockReply = { kind: 'text', text: 'counting slowly '.repeat(10), delayMs: 200 };
/** Never ends by itself in time. */
const ENDLESS: MockReply = { kind: 'text', text: 'counting slowly '.repeat(400), delayMs: 200 };

interface Story {
  readonly provider: TerminalCliName;
  /** Dialogs before the composer, and the keys that answer them. */
  readonly dialogs: readonly (readonly [reason: string, key: string])[];
  /** A tool call that needs a permission. */
  readonly tool: (file: string) => ToolCall;
  /** How its screen asks: hooks tell of it before it is drawn. */
  readonly asks: RegExp;
  /** What allows it. */
  readonly allow: string;
  /** Who told last what it did: its hooks, where it can be made to report. */
  readonly source: 'hooks' | 'screen';
}

const touch = (name: string) => (file: string) => ({
  name,
  input: { command: `touch ${file}`, description: 'Make a file', is_background: false },
});

const STORIES: readonly Story[] = [
  {
    provider: 'claude',
    dialogs: [
      ['trust', 'enter'],
      ['api-key', '1'],
    ],
    tool: (file) => ({ name: 'Write', input: { file_path: file, content: 'written' } }),
    asks: /Do you want to [^]*1\. Yes[^]*Esc to cancel/,
    allow: '1',
    source: 'hooks',
  },
  {
    provider: 'codex',
    dialogs: [['trust', 'enter']],
    tool: (file) => ({
      name: 'exec_command',
      input: { cmd: `touch ${file}`, sandbox_permissions: 'require_escalated', justification: 'to try it' },
    }),
    asks: /Press enter to confirm or esc to cancel/,
    allow: '1',
    source: 'hooks',
  },
  {
    provider: 'gemini',
    dialogs: [['trust', '1']],
    tool: touch('run_shell_command'),
    asks: /● 1\. (Allow once|Yes)/,
    allow: '1',
    source: 'screen',
  },
  {
    provider: 'opencode',
    dialogs: [],
    tool: touch('bash'),
    asks: /Permission required/,
    allow: 'enter',
    source: 'hooks',
  },
  {
    provider: 'qwen',
    dialogs: [],
    tool: touch('run_shell_command'),
    asks: /› 1\. Yes/,
    allow: '1',
    source: 'hooks',
  },
];
/** Small enough to install anywhere. */
const ALWAYS: readonly TerminalCliName[] = ['claude', 'codex'];

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

let roost: RoostHome;
let server: MockModelServer;
beforeEach(async () => {
  roost = new RoostHome();
  server = await startMockModelServer({ reply });
});
afterEach(async () => {
  await roost[Symbol.asyncDispose]();
  await server.close();
});

let call: ToolCall;
/** What the model says to the prompts of the story; what the CLIs ask beside them carries no tools. */
function reply({ body, prompt }: RecordedRequest): MockReply {
  if (!isRecord(body) || !Array.isArray(body.tools) || body.tools.length === 0)
    return { kind: 'text', text: 'aside' };
  if (prompt.includes('go on for ever')) return ENDLESS;
  return prompt.includes('write a file') && !endsWithToolResult(body)
    ? { kind: 'tools', calls: [call] }
    : TURN;
}

function endsWithToolResult({ messages, input, contents }: Record<string, unknown>): boolean {
  const list: unknown = messages ?? input ?? contents;
  const result = /"(?:tool_result|function_call_output|functionResponse)"|"role":"tool"/;
  return Array.isArray(list) && result.test(JSON.stringify(list.at(-1)));
}

let node: NodeConnection;
const shown = ({ status, activity }: Session): string => {
  const state = activity?.state ?? status;
  const reason = activity?.reason ?? null;
  return reason === null ? state : `${state} ${reason}`;
};

let told: ToldStates;
const history = () => told.read(node);

const screenShows = (wanted: RegExp) =>
  waitFor(`the screen to match ${wanted}`, async () => wanted.test(await roost.screen('agent')));

const becomes = (wanted: string) =>
  waitFor(`the agent to be ${wanted}`, async () => (await history()).at(-1) === wanted, {
    timeoutMs: 60_000,
    everyMs: 100,
    state: async () => ({
      activity: (await node.request('events.read', {})).events.flatMap(({ body }) =>
        body.kind === 'session-changed' ? [body.session.activity] : [],
      ),
      screen: (await roost.ok(['logs', 'agent'])).trimEnd().split('\n').slice(-16),
    }),
  });

/** Types a key by its name, or text, as a second client does. */
const press = (key: string) =>
  roost.ok(/^[a-z]+$/.test(key) ? ['send', 'agent', '--key', key] : ['send', 'agent', key]);

function occupied(error: unknown): null {
  if (error instanceof FailureError && error.failure.code === 'composer-occupied') return null;
  throw error;
}

describe('what a real agent is doing', () => {
  it.for(STORIES)(
    '$provider: its dialogs, prompts that arrive, a permission, an interrupt; nothing else in between',
    { timeout: INSTALL_MS },
    async ({ provider, dialogs, tool, asks, allow, source }, context) => {
      if (!ALWAYS.includes(provider) && !FULL_ATTACK)
        context.skip('only with ROOST_ATTACK=full: it is large to install');
      await putOnPath(provider, roost, context);
      const run = new ProviderRun(provider, 'pty');
      execFileSync('git', ['init', '-q', roost.work]);
      const home = join(roost.root, 'agent-home');
      mkdirSync(home);
      const environment = await HOMES[provider]({ home, baseUrl: server.url });
      await roost.ok(['run', '--detach', '--name', 'agent', ...asFlags(environment), provider]);
      node = await connectTo(roost);
      told = new ToldStates(shown);
      try {
        call = tool(join(roost.work, 'made-by-agent'));
        const address = addressOf(await roost.session('agent'));
        const prompt = (text: string, until: PromptDelivery) =>
          node.request('session.prompt', { ...address, text, until, waitMs: 60_000 });
        const refused = async (text: string) =>
          (await roost.roost(['prompt', 'agent', text])).stderr.split('\n').slice(0, 2).join(' ');

        const expected: string[] = [];
        for (const [reason, key] of dialogs) {
          await becomes(`blocked ${reason}`);
          expected.push(`blocked ${reason}`);
          expect(await roost.ok(['attention'])).toContain(reason);
          expect(await refused('too early')).toMatch(/agent-not-ready: .* (?:it asks|nobody|it shows)/);
          await press(key);
        }
        await becomes('ready');
        run.shows('start');
        run.shows('dialogs', dialogs.length === 0 ? 'has none' : 'works');

        await roost.ok(['send', 'agent', 'half a thought']);
        await screenShows(/half a thought/);
        expect(await refused('not to be merged')).toMatch(/composer-occupied/);
        run.shows('half-typed');
        const typed = Array.from('half a thought', () => ['--key', 'backspace']);
        await roost.ok(['send', 'agent', ...typed.flat()]);

        const long = `count ${'and on, line by line\n'.repeat(60)}to the end`;
        // What was typed goes letter by letter.
        const answered = await waitFor('the composer to be empty', () =>
          prompt(long, 'answered').catch(occupied),
        );
        expect(answered).toMatchObject({ delivery: 'answered' });
        await becomes('done');
        expect(await roost.ok(['attention'])).toContain('done');
        expect(server.requests.some(({ prompt: text }) => text.includes(long))).toBe(true);
        run.shows('prompt');
        await node.request('session.acknowledge', address);

        expect(await prompt('write a file', 'accepted')).toMatchObject({ delivery: 'accepted' });
        await becomes('blocked approval');
        expect(await refused('while it waits')).toMatch(/agent-not-ready.*permission/);
        await screenShows(asks);
        await press(allow);
        await becomes('done');
        expect(existsSync(join(roost.work, 'made-by-agent'))).toBe(true);
        expect((await roost.session('agent')).activity?.source).toBe(source);
        run.shows('allow');

        expect(await prompt('go on for ever', 'accepted')).toMatchObject({ delivery: 'accepted' });
        await becomes('working');
        expect(await refused('while it works')).toMatch(/turn-in-flight/);
        await roost.ok(['interrupt', 'agent']);
        await becomes('idle');
        expect((await history()).filter((state) => state !== 'starting')).toEqual([
          ...expected,
          'ready',
          'working',
          'done',
          'idle',
          // A look may come too late for so short a moment.
          ...(source === 'screen' && !(await history()).join().includes('idle,working,blocked')
            ? []
            : ['working']),
          'blocked approval',
          'working',
          'done',
          'working',
          'idle',
        ]);
        const asked = server.requests.filter(({ prompt: text }) => /too early|merged|while it/.test(text));
        expect(asked).toEqual([]);
        run.shows('interrupt');
        const { records } = await node.request('record.list', {});
        expect(records).toMatchObject([{ state: 'live', providerSession: { key: 'session-id' } }]);
        run.hold();
      } finally {
        node.close();
      }
    },
  );
});
