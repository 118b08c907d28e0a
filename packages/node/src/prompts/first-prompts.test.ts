/** First prompts of a program called claude, which draws a composer as Claude Code does. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Session, WorkspaceId } from '@roost/protocol';
import type { Daemon } from '../daemon.ts';
import {
  failureOf,
  startNodeProcess,
  startNodeThatEndsAt,
  startTestNode,
  TestClient,
  TestHome,
  waitFor,
  type NodeProcess,
} from '../node-for-test.ts';
import { openDatabase } from '../store/open-database.ts';
import { installAgent, receivedPrompts } from './composing-agent-for-test.ts';

const FIRST = 'work on --this\nfirst';

let home: TestHome;
let path: string;
let daemon: Daemon | null = null;
let child: NodeProcess | null = null;
let client: TestClient;

beforeEach(() => {
  home = new TestHome();
  path = installAgent(home.path);
  mkdirSync(join(home.path, 'profiles', 'spawn'), { recursive: true, mode: 0o700 });
});
afterEach(async () => {
  client.close();
  await daemon?.stop();
  child?.child.kill('SIGKILL');
  await child?.exit;
  [daemon, child] = [null, null];
  await home.remove();
});

async function start(): Promise<void> {
  daemon = await startTestNode(home, { environment: { ...process.env, HOME: home.path, PATH: path } });
  client = await TestClient.connect(daemon.socket);
}

async function stopNode(): Promise<void> {
  client.close();
  await daemon?.stop();
  daemon = null;
}

/** The agent with a first prompt, and these arguments. */
async function launch(...args: string[]): Promise<void> {
  const profile = { revision: 'r1', provider: 'claude', prompt: FIRST, arguments: args };
  writeFileSync(join(home.path, 'profiles', 'spawn', 'first.json'), JSON.stringify(profile));
  const workspaceId = WorkspaceId.parse('here');
  await client.call('workspace.register', { root: home.path, workspaceId });
  const { nodeId } = await client.call('node.status', {});
  await client.call('spawn.submit', {
    target: { nodeId, workspaceId },
    profileId: 'first',
    expectedRevision: 'r1',
    deadlineMs: 20_000,
    idempotencyKey: 'once',
  });
}

const session = async (): Promise<Session> => {
  const [only] = (await client.call('session.list', {})).sessions;
  if (only === undefined) throw new Error('there is no session');
  return only;
};
const address = async () => {
  const { workspaceId, id: sessionId, generation } = await session();
  return { workspaceId, sessionId, generation };
};
const becomes = (state: string) =>
  waitFor(async () => (await session()).activity?.state === state, `the agent to be ${state}`);
const shows = (text: string) =>
  waitFor(async () => {
    const { id: sessionId } = await session();
    return (await client.call('session.readScreen', { sessionId })).lines.join('\n').includes(text);
  }, text);
const type = async (text: string) =>
  client.call('session.input', { ...(await address()), text, framing: 'raw' });
const prompt = async (text: string) => client.call('session.prompt', { ...(await address()), text });
const isReceived = () => waitFor(() => receivedPrompts(home.path).length > 0, 'the first prompt');

/** Prompts that wait in the database, without a node. */
async function kept(): Promise<unknown[]> {
  await stopNode();
  const sql = openDatabase(join(home.path, 'node.db'));
  try {
    return sql.all('SELECT text FROM waiting_prompts');
  } finally {
    sql.close();
  }
}

describe('a first prompt', () => {
  it('is typed, whole and once, as soon as the agent takes one, and stands in no argument', async () => {
    await start();
    await launch();
    const { pid, command } = await session();
    expect(await failureOf(prompt('too early'))).toBe('turn-in-flight');
    await isReceived();
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain('first');
    expect(command.join(' ')).not.toMatch(/first|…/);
    await becomes('done');
    await prompt('report second');
    await shows('got [report second]');
    expect(receivedPrompts(home.path)).toEqual([FIRST, 'report second']);
    expect(await kept()).toEqual([]);
  });

  it('waits behind a dialog, which it does not answer, and through a restart of the node', async () => {
    await start();
    await launch('--ask-first');
    await becomes('blocked');
    expect(await failureOf(prompt('too early'))).toBe('turn-in-flight');
    expect(await kept()).toEqual([{ text: FIRST }]);
    await start();
    await becomes('blocked');
    await shows('Yes, I trust this folder');
    expect(receivedPrompts(home.path)).toEqual([]);
    await type('\r');
    await isReceived();
    await becomes('done');
    expect(receivedPrompts(home.path)).toEqual([FIRST]);
  });

  it('waits until what somebody has begun to type is gone', async () => {
    await start();
    await launch('--typed=half');
    await becomes('ready');
    await type(' a thought');
    await shows('half a thought');
    expect(await failureOf(prompt('too early'))).toBe('turn-in-flight');
    expect(receivedPrompts(home.path)).toEqual([]);
    await type('\x15');
    await isReceived();
    await becomes('done');
    expect(receivedPrompts(home.path)).toEqual([FIRST]);
  });

  it('comes after what a person said before it', async () => {
    await start();
    await launch('--typed=work for me');
    await becomes('ready');
    await type('\r');
    await waitFor(() => receivedPrompts(home.path).length === 2, 'both prompts');
    expect(receivedPrompts(home.path)).toEqual(['work for me', FIRST]);
  });

  it('goes with a session that ends before', async () => {
    await start();
    await launch('--ask-first');
    await becomes('blocked');
    await client.call('session.stop', { ...(await address()), force: true });
    expect(await kept()).toEqual([]);
    await start();
    expect(receivedPrompts(home.path)).toEqual([]);
  });
});

describe('a node that is killed', () => {
  /** Launches on a node that ends itself there, and goes on with another one. */
  async function killedAt(point: string): Promise<void> {
    const dying = await startNodeThatEndsAt(home.path, point, path);
    child = dying;
    client = await TestClient.connect(join(home.path, 'node.sock'));
    await launch();
    expect((await dying.exit).signal).toBe('SIGKILL');
    client.close();
    await start();
  }

  it('before it has taken the first prompt leaves it to the next one', async () => {
    await killedAt('first-prompt:free');
    await isReceived();
    await becomes('done');
    expect(receivedPrompts(home.path)).toEqual([FIRST]);
  });

  it('after that has given it as far as anybody can know, and nobody gives it again', async () => {
    await killedAt('first-prompt:taken');
    await becomes('ready');
    await prompt('report second');
    await shows('got [report second]');
    expect(receivedPrompts(home.path)).toEqual(['report second']);
  });

  it('once the agent has it has nothing left to give', async () => {
    child = await startNodeProcess(home.path, path);
    client = await TestClient.connect(join(home.path, 'node.sock'));
    await launch();
    await isReceived();
    child.child.kill('SIGKILL');
    await child.exit;
    client.close();
    await start();
    await becomes('done');
    expect(await kept()).toEqual([]);
    expect(receivedPrompts(home.path)).toEqual([FIRST]);
  });
});
