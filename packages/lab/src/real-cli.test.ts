import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type TestContext, afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type MockModelServer, startMockModelServer } from './mock-server/server.ts';
import {
  type RealCli,
  type RealCliName,
  RegistryUnreachable,
  claudeEnvironment,
  codexHome,
  ensureRealCli,
  passFirstRunScreens,
} from './real-cli.ts';
import { TerminalForTest } from './terminal-for-test.ts';

const clis = new Map<RealCliName, RealCli>();
let unreachable = '';
let server: MockModelServer;
const scratch: string[] = [];
const terminals: TerminalForTest[] = [];

beforeAll(async () => {
  server = await startMockModelServer({ defaultReply: { kind: 'text', text: 'MOCKED-ANSWER-42' } });
  try {
    for (const name of ['claude', 'codex'] as const) clis.set(name, await ensureRealCli(name));
  } catch (error) {
    if (!(error instanceof RegistryUnreachable)) throw error;
    unreachable = error.message;
    console.warn(`real CLIs are not tested: ${unreachable}`);
  }
}, 600_000);
afterEach(async () => {
  await Promise.all(terminals.splice(0).map((terminal) => terminal.close()));
});
afterAll(async () => {
  await server.close();
  await Promise.all(scratch.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })));
});

function cliOrSkip(name: RealCliName, context: TestContext): RealCli {
  const cli = clis.get(name);
  return cli ?? context.skip(unreachable);
}

async function scratchFolders(): Promise<{ home: string; work: string }> {
  const root = await mkdtemp(join(tmpdir(), 'roost-real-cli-'));
  scratch.push(root);
  const folders = { home: join(root, 'home'), work: join(root, 'work') };
  await mkdir(folders.work);
  return folders;
}

const shared = { PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}`, LANG: 'C.UTF-8' };

function openTerminal(
  file: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
): TerminalForTest {
  const terminal = new TerminalForTest({ file, args, cwd, env: { ...shared, ...env } });
  terminals.push(terminal);
  return terminal;
}

/** Types, waits until the text stands in the composer, lets it settle as these CLIs need, presses Enter, reads the answer. */
async function ask(terminal: TerminalForTest, prompt: string, answer: string): Promise<void> {
  terminal.write(prompt);
  await terminal.waitForScreen('the prompt', (screen) => screen.includes(prompt));
  await new Promise((resolve) => setTimeout(resolve, 400));
  terminal.write('\r');
  await terminal.waitForScreen('the answer', (screen) => screen.includes(answer), 20_000);
}

const driver = (terminal: TerminalForTest) => ({
  readScreen: () => terminal.read(),
  sendKeys: (bytes: string) => terminal.write(bytes),
});

describe('claude', () => {
  test('a prompt typed after the first-run screens brings the mocked answer to the screen', async (context) => {
    const { file } = cliOrSkip('claude', context);
    const { home, work } = await scratchFolders();
    const terminal = openTerminal(file, [], work, await claudeEnvironment({ home, baseUrl: server.url }));
    const { screens, idleAfterMs } = await passFirstRunScreens('claude', driver(terminal));
    console.info(
      `claude: ${screens.map(({ name, afterMs }) => `${name} ${afterMs} ms`).join(', ')}, idle ${idleAfterMs} ms`,
    );
    expect(screens.map(({ name }) => name)).toEqual(['trust-folder', 'api-key']);
    await ask(terminal, 'say something', 'MOCKED-ANSWER-42');
    expect(
      server.requests.some(({ path, prompt }) => path === '/v1/messages' && prompt.includes('say something')),
    ).toBe(true);
  });

  test('print mode delivers JSON lines from init to result', async (context) => {
    const { file } = cliOrSkip('claude', context);
    const { home, work } = await scratchFolders();
    const env = { ...shared, ...(await claudeEnvironment({ home, baseUrl: server.url })) };
    const child = spawn(file, ['-p', '--output-format', 'stream-json', '--verbose'], {
      cwd: work,
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    child.stdin.end('say something');
    expect(await once(child, 'close')).toEqual([0, null]);
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string });
    expect(lines[0]).toMatchObject({ type: 'system', subtype: 'init' });
    expect(lines.some(({ type }) => type === 'assistant')).toBe(true);
    expect(lines.at(-1)).toMatchObject({ type: 'result', is_error: false, result: 'MOCKED-ANSWER-42' });
  });

  test('a scripted tool call is carried out and its result goes back to the model', async (context) => {
    const { file } = cliOrSkip('claude', context);
    const { home, work } = await scratchFolders();
    const tool = await startMockModelServer({
      replies: [
        {
          kind: 'tools',
          match: 'use the tool',
          calls: [{ name: 'Bash', input: { command: 'echo tool-says-$((6*7))', description: 'count' } }],
        },
        { kind: 'text', text: 'TOOL-DONE' },
      ],
    });
    try {
      const env = { ...shared, ...(await claudeEnvironment({ home, baseUrl: tool.url })) };
      const running = promisify(execFile)(file, ['-p', '--allowedTools', 'Bash', '--', 'use the tool'], {
        cwd: work,
        env,
      });
      running.child.stdin?.end();
      expect((await running).stdout).toContain('TOOL-DONE');
      expect(JSON.stringify(tool.requests.at(-1)?.body)).toContain('tool-says-42');
    } finally {
      await tool.close();
    }
  });
});

describe('codex', () => {
  test('a prompt typed after the first-run screens brings the mocked answer to the screen', async (context) => {
    const { file } = cliOrSkip('codex', context);
    const { home, work } = await scratchFolders();
    execFileSync('git', ['init', '-q', work]);
    const terminal = openTerminal(
      file,
      ['--no-daemon'],
      work,
      await codexHome({ home, baseUrl: server.url }),
    );
    const { screens, idleAfterMs } = await passFirstRunScreens('codex', driver(terminal));
    console.info(
      `codex: ${screens.map(({ name, afterMs }) => `${name} ${afterMs} ms`).join(', ')}, idle ${idleAfterMs} ms`,
    );
    expect(screens.map(({ name }) => name)).toEqual(['trust-folder']);
    await ask(terminal, 'say something', 'MOCKED-ANSWER-42');
    expect(
      server.requests.some(
        ({ path, prompt }) => path === '/v1/responses' && prompt.includes('say something'),
      ),
    ).toBe(true);
  });

  test('exec delivers JSON lines with the mocked answer', async (context) => {
    const { file } = cliOrSkip('codex', context);
    const { home, work } = await scratchFolders();
    const env = { ...shared, ...(await codexHome({ home, baseUrl: server.url })) };
    const running = promisify(execFile)(file, ['exec', '--json', '--skip-git-repo-check', 'say something'], {
      cwd: work,
      env,
    });
    running.child.stdin?.end();
    const lines = (await running).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string });
    expect(lines[0]).toMatchObject({ type: 'thread.started' });
    expect(lines).toContainEqual(
      expect.objectContaining({
        type: 'item.completed',
        item: expect.objectContaining({ text: 'MOCKED-ANSWER-42' }),
      }),
    );
    expect(lines.at(-1)).toMatchObject({ type: 'turn.completed' });
  });
});

describe('the installer', () => {
  test('an unreachable registry is told apart and leaves nothing behind', async () => {
    const { home } = await scratchFolders();
    const before = process.env.npm_config_registry;
    const closed = await startMockModelServer();
    await closed.close();
    process.env.npm_config_registry = closed.url;
    try {
      const attempts = await Promise.allSettled([
        ensureRealCli('claude', { cacheDir: home }),
        ensureRealCli('claude', { cacheDir: home }),
      ]);
      for (const attempt of attempts)
        expect(attempt).toMatchObject({ status: 'rejected', reason: { name: 'RegistryUnreachable' } });
      expect(await readdir(home)).toEqual([]);
    } finally {
      if (before === undefined) delete process.env.npm_config_registry;
      else process.env.npm_config_registry = before;
    }
  });
});
