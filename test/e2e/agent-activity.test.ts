import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  claudeEnvironment,
  codexHome,
  ensureRealCli,
  RegistryUnreachable,
  startMockModelServer,
  type MockModelServer,
  type MockReply,
  type RealCliName,
  type RecordedRequest,
  type ToolCall,
} from '@roost/lab';
import type { NodeConnection } from '@roost/client';
import { addressOf, type Session } from '@roost/protocol';
import { afterEach, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { connectTo } from '../support/node-client.ts';
import { RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

const INSTALL_MS = 600_000;
const TURN: MockReply = { kind: 'text', text: 'counting slowly '.repeat(10), delayMs: 200 };
/** Never ends by itself in time. */
const ENDLESS: MockReply = { kind: 'text', text: 'counting slowly '.repeat(400), delayMs: 200 };

interface Story {
  readonly provider: RealCliName;
  /** Dialogs before the composer, and the keys that answer them. */
  readonly dialogs: readonly (readonly [reason: string, key: string])[];
  /** A tool call that needs a permission. */
  readonly tool: (file: string) => ToolCall;
}

const STORIES: readonly Story[] = [
  {
    provider: 'claude',
    dialogs: [
      ['trust', 'enter'],
      ['api-key', '1'],
    ],
    tool: (file) => ({ name: 'Write', input: { file_path: file, content: 'written' } }),
  },
  {
    provider: 'codex',
    dialogs: [['trust', 'enter']],
    tool: (file) => ({
      name: 'exec_command',
      input: { cmd: `touch ${file}`, sandbox_permissions: 'require_escalated', justification: 'to try it' },
    }),
  },
];

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

function endsWithToolResult({ messages, input }: Record<string, unknown>): boolean {
  const list: unknown = messages ?? input;
  return Array.isArray(list) && /"(?:tool_result|function_call_output)"/.test(JSON.stringify(list.at(-1)));
}

async function install(name: RealCliName, context: TestContext): Promise<void> {
  try {
    const { file } = await ensureRealCli(name);
    roost.environment.PATH = `${dirname(file)}:${dirname(process.execPath)}:${roost.environment.PATH ?? ''}`;
  } catch (error) {
    if (!(error instanceof RegistryUnreachable)) throw error;
    context.skip(`${name} could not be installed: ${error.message}`);
  }
}

let node: NodeConnection;
const shown = ({ status, activity }: Session): string => {
  const state = activity?.state ?? status;
  const reason = activity?.reason ?? null;
  return reason === null ? state : `${state} ${reason}`;
};

/** What the session was said to do, from its start on, as the journal has it. */
async function history(): Promise<string[]> {
  const { events } = await node.request('events.read', {});
  const said = events.flatMap(({ body }) => (body.kind === 'session-changed' ? [shown(body.session)] : []));
  return said.filter((state, index) => state !== 'running' && state !== said[index - 1]);
}

const becomes = (wanted: string) =>
  waitFor(`the agent to be ${wanted}`, async () => (await history()).at(-1) === wanted, {
    timeoutMs: 60_000,
    everyMs: 100,
    state: async () => ({
      history: await history(),
      screen: (await roost.ok(['logs', 'agent'])).trimEnd().split('\n').slice(-16),
    }),
  });

describe('what a real agent is doing', () => {
  it.for(STORIES)(
    '$provider: its dialogs, a turn, a permission, an interrupt; nothing else in between',
    { timeout: INSTALL_MS },
    async ({ provider, dialogs, tool }, context) => {
      await install(provider, context);
      execFileSync('git', ['init', '-q', roost.work]);
      const home = join(roost.root, 'agent-home');
      mkdirSync(home);
      const prepare = provider === 'claude' ? claudeEnvironment : codexHome;
      const environment = await prepare({ home, baseUrl: server.url });
      const flags = Object.entries(environment).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
      await roost.ok(['run', '--detach', '--name', 'agent', ...flags, provider]);
      node = await connectTo(roost);
      try {
        call = tool(join(roost.work, 'made-by-agent'));
        const address = addressOf(await roost.session('agent'));
        const prompt = (text: string) =>
          node.request('session.prompt', { ...address, text, until: 'written' });

        const expected: string[] = [];
        for (const [reason, key] of dialogs) {
          await becomes(`blocked ${reason}`);
          expected.push(`blocked ${reason}`);
          expect(await roost.ok(['attention'])).toContain(reason);
          await roost.ok(key === 'enter' ? ['send', 'agent', '--key', key] : ['send', 'agent', key]);
        }
        await becomes('ready');

        await prompt('count');
        await becomes('done');
        expect(await roost.ok(['attention'])).toContain('done');
        await node.request('session.acknowledge', address);

        await prompt('write a file');
        await becomes('blocked approval');
        await roost.ok(['send', 'agent', '1']);
        await becomes('done');
        expect(existsSync(join(roost.work, 'made-by-agent'))).toBe(true);

        await prompt('go on for ever');
        await becomes('working');
        await roost.ok(['interrupt', 'agent']);
        await becomes('idle');
        expect((await history()).filter((state) => state !== 'starting')).toEqual([
          ...expected,
          'ready',
          'working',
          'done',
          'idle',
          'working',
          'blocked approval',
          'working',
          'done',
          'working',
          'idle',
        ]);
      } finally {
        node.close();
      }
    },
  );
});
