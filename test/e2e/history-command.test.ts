/** Sessions that were begun without Roost: found, looked at, adopted, and run on with the real programs. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  ensureRealCli,
  HOMES,
  passFirstRunScreens,
  RegistryUnreachable,
  startMockModelServer,
  type MockModelServer,
  type TerminalCliName,
} from '@roost/lab';
import type { HistoryEntry, Result, SessionRecord } from '@roost/protocol';
import { afterEach, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { FULL_ATTACK } from '../support/counts.ts';
import { RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

const ANSWER = 'MOCKED-ANSWER-42';
const INSTALL_MS = 600_000;

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

/** The program, with the user's home of this Roost prepared for it; skips the test when it cannot be installed. */
async function install(name: TerminalCliName, context: TestContext): Promise<string> {
  try {
    const { file } = await ensureRealCli(name);
    const home = join(roost.root, 'user');
    Object.assign(roost.environment, await HOMES[name]({ home, baseUrl: server.url }));
    roost.environment.PATH = `${dirname(file)}:${dirname(process.execPath)}:${roost.environment.PATH ?? ''}`;
    if (name === 'codex') {
      // A variable that reaches its sessions by itself, as a person's own key does.
      const config = join(home, '.codex', 'config.toml');
      writeFileSync(config, readFileSync(config, 'utf8').replace('MOCK_API_KEY', 'OPENAI_API_KEY'));
      roost.environment.OPENAI_API_KEY = 'mock-key';
    }
    return file;
  } catch (error) {
    if (!(error instanceof RegistryUnreachable)) throw error;
    return context.skip(`${name} could not be installed: ${error.message}`);
  }
}

function runOutside(file: string, args: readonly string[], cwd: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = execFile(file, [...args], { cwd, env: roost.environment, timeout: 120_000 }, (error) => {
      if (error === null) resolve();
      else reject(new Error(`${file} failed`, { cause: error }));
    });
    child.stdin?.end();
  });
}

const listed = () => roost.json<Result<'history.list'>>(['history', 'ls', '--all']);

describe('a session that a person began without Roost', () => {
  it.for([
    ['claude', ['-p', 'the first word is heron']],
    ['codex', ['exec', '--skip-git-repo-check', 'the first word is heron']],
    ['gemini', ['--skip-trust', '-p', 'the first word is heron']],
    ['opencode', ['run', 'the first word is heron']],
    ['qwen', ['-p', 'the first word is heron']],
  ] as const)(
    '%s: is listed, shown, adopted once, and resumed as exactly that conversation in its directory',
    { timeout: INSTALL_MS },
    async ([name, args], context) => {
      if (!['claude', 'codex'].includes(name) && !FULL_ATTACK)
        context.skip('only with ROOST_ATTACK=full: it is large to install');
      const file = await install(name, context);
      const place = join(realpathSync(roost.work), 'inner');
      mkdirSync(place);
      if (name === 'gemini') {
        const trusted = join(roost.root, 'user', '.gemini', 'trustedFolders.json');
        writeFileSync(trusted, JSON.stringify({ [place]: 'TRUST_FOLDER' }));
      }
      await runOutside(file, args, place);

      // It has its model title a session.
      const title = name === 'opencode' ? ANSWER : 'the first word is heron';
      const before = await listed();
      expect(before.entries).toMatchObject([{ provider: name, title, workspaceId: null, recordId: null }]);
      const id = before.entries[0]?.id ?? '';
      const early = await roost.roost(['history', 'adopt', id]);
      expect([early.code, early.stderr]).toEqual([
        1,
        expect.stringMatching(/workspace-registration-required: .*\n.*roost workspace add DIR/) as string,
      ]);
      await roost.ok(['workspace', 'add', roost.work, '--id', 'work']);
      const shown = await roost.ok(['history', 'show', id.slice(0, 8), '--whole']);
      expect(shown).toContain('the first word is heron');
      expect(shown).toContain(ANSWER);
      expect(shown).toContain('work/inner');

      const record = await roost.json<SessionRecord>(['history', 'adopt', id, '--name', 'mine']);
      expect(record).toMatchObject({ name: 'mine', state: 'dormant', directory: place, workspaceId: 'work' });
      expect(await roost.json(['history', 'adopt', id])).toEqual(record);

      await roost.ok(['resume', 'mine', '--detach']);
      const terminal = roost.terminal(['attach', 'mine'], { columns: 100, rows: 30 });
      // It asks nothing, and shows a resumed session at once.
      if (name !== 'opencode') {
        await passFirstRunScreens(name, {
          readScreen: () => terminal.text(),
          sendKeys: (bytes) => {
            terminal.type(bytes);
          },
          deadlineMs: 60_000,
        });
      }
      // What was said before is on the screen.
      await terminal.shows(/the first word is heron/, 60_000);
      await roost.ok(['send', 'mine', 'which word was it', '--paste']);
      await terminal.shows(/which word was it/);
      // An Enter close behind a paste is taken for a part of it.
      await delay(600);
      await roost.ok(['send', 'mine', '--key', 'enter']);
      const request = await server.waitForRequest(
        ({ prompt }) => prompt.includes('which word was it'),
        60_000,
      );
      expect(JSON.stringify(request.body)).toContain('the first word is heron');
      await roost.ok(['stop', 'mine']);

      const after = (await listed()).entries;
      expect(after).toHaveLength(1);
      expect(after[0]).toMatchObject({ id, workspaceId: 'work', place: 'inner', recordId: record.id });
    },
  );
});

describe('roost history', () => {
  it('says in plain words what it cannot do, and completes what it knows', async () => {
    const failing = async (...args: string[]) => {
      const { code, stderr } = await roost.roost(['history', ...args]);
      return [code, stderr.split('\n')[0]];
    };
    expect(await failing('show', 'nonsense')).toEqual([
      2,
      expect.stringContaining("'nonsense' is not 4 to 16"),
    ]);
    expect(await failing('ls', '--all', '--workspace', 'x')).toEqual([2, expect.stringContaining('exclude')]);
    expect(await failing('ls')).toEqual([
      2,
      expect.stringContaining('no workspace is registered around here'),
    ]);
    expect(await failing('ls', 'nobody', '--all')).toEqual([1, expect.stringContaining('unknown-provider')]);
    expect(await failing('ls', 'shell', '--all')).toEqual([
      1,
      expect.stringContaining('history-unsupported'),
    ]);
    expect(await failing('show', 'ffffffff')).toEqual([
      1,
      expect.stringContaining('unknown-history-session'),
    ]);
    expect((await roost.roost(['history', 'ls', '--all'])).stderr).toContain('no sessions');

    const folder = join(roost.root, 'user', '.claude', 'projects', '-p');
    mkdirSync(folder, { recursive: true });
    const sessionId = '00000000-0000-4000-8000-000000000001';
    const line = { type: 'user', sessionId, cwd: roost.work, message: { content: 'a \x1b[31mred title' } };
    writeFileSync(join(folder, `${sessionId}.jsonl`), JSON.stringify(line));
    writeFileSync(join(folder, `${sessionId.replace(/1$/, '2')}.jsonl`), 'nonsense');
    // What was found a moment ago holds for a second.
    const shown = await waitFor('the session to be listed', async () => {
      const ran = await roost.roost(['history', 'ls', '--all']);
      return ran.stdout === '' ? null : ran;
    });
    expect(shown.stdout).toMatch(
      /ID +PROVIDER +CHANGED +WHERE +RECORD +TITLE\n[0-9a-f]{10} +claude +\S+ +\(work\) +a red title\n/,
    );
    expect(shown.stderr).toContain('passed over: 1 of an unknown form');
    const [{ id }] = (await listed()).entries as [HistoryEntry];
    const complete = async (...words: string[]) =>
      (await roost.ok(['__complete', '--', ...words])).trim().split('\n');
    expect(await complete('history', '')).toEqual(['ls', 'show', 'adopt']);
    expect(await complete('history', 'adopt', id.slice(0, 4))).toEqual([id]);
    expect(await complete('history', 'ls', 'cl')).toEqual(['claude']);
  });
});
