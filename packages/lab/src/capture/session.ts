// A turn, one with a permission, and one that is interrupted on a terminal, made to report as a launch of Roost does: the reports, and the files of the session that
// stay behind.
import { execFile } from 'node:child_process';
import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findProvider, planHooks, REPORTS_DIRECTORY } from '@roost/providers';
import { HOMES, trustFolder } from '../real-cli/homes.ts';
import { passFirstRunScreens } from '../real-cli/first-run-screens.ts';
import type { RealCli } from '../real-cli/install.ts';
import type { TerminalCliName } from '../real-cli/versions.ts';
import { commonEnvironment } from './common-environment.ts';
import { DIALECTS } from './dialects.ts';
import type { CapturedFiles } from './fixtures.ts';
import { Normaliser } from './normalise.ts';
import { clear } from './screens.ts';
import { type Scratch, withScratch } from './scratch.ts';
import { startScriptedModel } from './scripted-model.ts';
import { Stage } from './stage.ts';
import { streamTurns } from './stream-scripts.ts';

/** Where the sessions are kept, below HOME. */
const HISTORY: Readonly<Record<TerminalCliName, RegExp>> = {
  claude: /^\.claude\/projects\/.*\.jsonl$/,
  codex: /^\.codex\/(sessions\/.*\.jsonl|session_index\.jsonl|history\.jsonl)$/,
  gemini: /^\.gemini\/(tmp\/.*\.jsonl?|projects\.json)$/,
  opencode: /^(export|database)\.json$/,
  qwen: /^\.qwen\/(projects|tmp)\/.*\.jsonl?$/,
};

interface CapturedSession extends Record<string, CapturedFiles> {
  hooks: CapturedFiles;
  history: CapturedFiles;
}

export const captureSession = (cli: TerminalCliName, real: RealCli): Promise<CapturedSession> =>
  withScratch((scratch) => playSession(cli, real, scratch));

async function playSession(
  cli: TerminalCliName,
  real: RealCli,
  { home, project }: Scratch,
): Promise<CapturedSession> {
  const dialect = DIALECTS[cli];
  const reports = await makeReporting(cli, home);
  const model = await startScriptedModel(streamTurns(cli));
  const normaliser = new Normaliser();
  try {
    const environment = await HOMES[cli]({ home, baseUrl: model.server.url });
    if (cli === 'gemini') await trustFolder(home, project);
    const env = { ...commonEnvironment(real.file), ...environment, ...reports.environment };
    const stage = new Stage({
      cli,
      version: real.version,
      file: real.file,
      args: [...dialect.args, ...reports.arguments],
      cwd: project,
      env,
    });
    try {
      await passFirstRunScreens(cli, {
        readScreen: () => stage.terminal.read(),
        sendKeys: (keys) => stage.press(keys),
        deadlineMs: 180_000,
      });
      await delay(2000);
      await stage.prompt('Say hello, turn-hello');
      await model.waitUntilAsked('turn-hello', 1, 120_000);
      await stage.sees(/What shall we do today/);
      await stage.settle({ quietMs: 2000 });
      await stage.prompt('Run it, turn-tool');
      await model.waitUntilAsked('turn-tool', 1, 60_000);
      await stage.sees(dialect.approvalSees);
      // Claude Code tells of a waiting permission some seconds later.
      await delay(8000);
      stage.press(dialect.allow);
      await stage.sees(/The command has run/);
      await stage.settle({ quietMs: 2500 });
      await stage.prompt('Talk on, turn-slow');
      await model.waitUntilAsked('turn-slow', 1, 60_000);
      await delay(1500);
      for (const key of findProvider(cli)?.interruptKeys ?? []) {
        stage.press(key);
        await delay(300);
      }
      await stage.settle({ quietMs: 2500 });
      await clear(stage);
      await stage.prompt(dialect.exit);
      await Promise.race([stage.terminal.exit, delay(10_000)]);
      await stage.shoot('exited', 'exited');
    } catch (error) {
      console.error(`${cli}: ${error instanceof Error ? error.message : String(error)}`);
      process.exitCode = 1;
    } finally {
      await stage.close();
    }
    await delay(500);
    if (cli === 'opencode') await exportSession(stage, { file: real.file, cwd: project, env }, home);
    return {
      hooks: await readHooks(reports.directory, normaliser),
      history: await readHistory(home, HISTORY[cli], normaliser),
    };
  } finally {
    await model.server.close();
  }
}

/** The tables of its database that hold sessions. */
const TABLES = ['session', 'message', 'part'];

/** It keeps its sessions in a database; the hint at the end names the one to export. The rows are kept, too. */
async function exportSession(
  stage: Stage,
  { file, cwd, env }: { file: string; cwd: string; env: Record<string, string> },
  home: string,
): Promise<void> {
  const end = stage.shots.get('exited')?.lines.join('\n') ?? '';
  const id = /opencode -s (ses_\w+)/.exec(end)?.[1];
  if (id === undefined) return;
  const run = async (...args: readonly string[]) =>
    (await promisify(execFile)(file, [...args], { cwd, env })).stdout;
  await writeFile(join(home, 'export.json'), await run('export', id));
  const query = async (sql: string) =>
    JSON.parse(await run('db', sql, '--format', 'json')) as Record<string, unknown>[];
  const tables: Record<string, unknown> = {};
  for (const table of TABLES) {
    const [schema] = await query(`SELECT sql FROM sqlite_schema WHERE name = '${table}'`);
    tables[table] = { sql: schema?.sql, rows: await query(`SELECT * FROM ${table} ORDER BY id`) };
  }
  await writeFile(join(home, 'database.json'), JSON.stringify(tables));
}

interface Reporting {
  arguments: readonly string[];
  environment: Readonly<Record<string, string>>;
  /** Where the reports come to lie. */
  directory: string;
}

async function makeReporting(cli: TerminalCliName, home: string): Promise<Reporting> {
  const roost = join(home, 'roost');
  const directory = join(roost, 'sessions', 'captured', REPORTS_DIRECTORY);
  await mkdir(directory, { recursive: true });
  const provider = findProvider(cli);
  const plan =
    provider &&
    planHooks(
      provider,
      { transport: 'pty', arguments: [], hooks: { directory: roost, exists: () => false } },
      {},
    );
  if (plan === null) return { arguments: [], environment: {}, directory };
  const file = provider?.hooks?.file ?? null;
  if (file !== null) await writeFile(join(roost, file.name), file.content);
  return {
    arguments: plan.arguments,
    environment: { ...plan.environment, ROOST_HOME: roost, ROOST_SESSION_ID: 'captured' },
    directory,
  };
}

/** Named by their order and event, as `03-PreToolUse.json`. */
async function readHooks(directory: string, normaliser: Normaliser): Promise<CapturedFiles> {
  const reports = (await readdir(directory)).map((name) => join(directory, name));
  const stamped = await Promise.all(reports.map(async (path) => ({ path, at: (await stat(path)).mtimeMs })));
  const files: CapturedFiles = new Map();
  for (const { path } of stamped.sort((one, other) => one.at - other.at)) {
    const payload = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
    const event = payload.hook_event_name ?? payload.type;
    const number = String(files.size + 1).padStart(2, '0');
    files.set(
      `${number}-${typeof event === 'string' ? event : 'unnamed'}.json`,
      `${JSON.stringify(normaliser.value(payload), null, 2)}\n`,
    );
  }
  return files;
}

async function readHistory(home: string, wanted: RegExp, normaliser: Normaliser): Promise<CapturedFiles> {
  const files: CapturedFiles = new Map();
  for (const entry of await readdir(home, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(home.length + 1);
    if (!entry.isFile() || !wanted.test(path)) continue;
    const text = await readFile(join(home, path), 'utf8');
    const values = path.endsWith('.jsonl') ? text.trim().split('\n') : [text];
    const neutral = values.map((one) => JSON.stringify(normaliser.value(JSON.parse(one) as unknown)));
    files.set(normaliser.text(path), `${neutral.join('\n')}\n`);
  }
  return files;
}
