// The screens of one CLI: a first start, a day's work with every kind of turn, and the end, photographed on the way.
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { FIRST_RUNS } from '../real-cli/first-run-screens.ts';
import { HOMES, trustFolder } from '../real-cli/homes.ts';
import type { RealCli } from '../real-cli/install.ts';
import type { TerminalCliName } from '../real-cli/versions.ts';
import { commonEnvironment } from './common-environment.ts';
import { DIALECTS, type Dialect } from './dialects.ts';
import { EXTRA_SCREENS } from './extra-screens.ts';
import { type Scratch, withScratch } from './scratch.ts';
import { type ScriptedModel, type Turns, startScriptedModel } from './scripted-model.ts';
import { type ScreenFixture, Stage } from './stage.ts';

/** Said by the model and printed by a tool: none of it may be taken for a dialog or for work. */
const LOOK_ALIKE = [
  'Do you want to proceed?',
  '❯ 1. Yes',
  '  2. Yes, and always allow this',
  '  3. No (esc)',
  '› 1. Yes, proceed (y)',
  '● 1. Allow once',
  'Press enter to confirm or esc to cancel',
  '⠋ Working (12s • esc to interrupt)',
];
const PRINT_LOOK_ALIKE = `printf '%s\\n' ${LOOK_ALIKE.map((line) => `'${line}'`).join(' ')}`;
const STORY =
  'The quick brown fox jumps over the lazy dog while the evening sun goes down behind the hills. ';

function turnsOf({ command, write, question }: Dialect, project: string): Turns {
  const tools = (...calls: ReturnType<Dialect['command']>[]) => ({ kind: 'tools', calls }) as const;
  const say = (text: string) => ({ kind: 'text', text }) as const;
  return {
    'turn-hello': [say('Hello! What shall we do today?')],
    'turn-slow': [{ kind: 'text', text: STORY.repeat(2), pieceLength: 4, delayMs: 90 }],
    'turn-wait': [{ kind: 'text', text: 'Now.', delayMs: 4000 }],
    'turn-command': [
      tools(command('touch counted.txt; sleep 4; echo counted-42')),
      say('The command has run.'),
    ],
    'turn-denied': [tools(command('touch never.txt')), say('Then I leave it.')],
    'turn-write': [tools(write(join(project, 'notes.txt'), 'first line\nsecond line\n')), say('Written.')],
    'turn-interrupt': [{ kind: 'text', text: STORY.repeat(20), pieceLength: 4, delayMs: 100 }],
    'turn-alike': [
      {
        kind: 'text',
        text: `Like this:\n\n${LOOK_ALIKE.join('\n\n')}\n\nAnd that is all.`,
        pieceLength: 8,
        delayMs: 60,
      },
    ],
    'turn-tool-alike': [
      tools(command(`touch alike.txt; ${PRINT_LOOK_ALIKE}; sleep 3`)),
      say('It printed some lines.'),
    ],
    'turn-narrow': [tools(command('touch narrow.txt')), say('Narrow indeed.')],
    'turn-wide': [tools(command('touch wide.txt')), say('Wide indeed.')],
    ...(question === null ? {} : { 'turn-question': [tools(question()), say('A good colour.')] }),
    'turn-cut': [{ kind: 'text', text: STORY, pieceLength: 4, cutAfter: 5 }, say('After the cut.')],
    'turn-quota': [
      {
        kind: 'error',
        status: 429,
        type: 'insufficient_quota',
        message: 'You exceeded your current quota, please check your plan and billing details.',
        headers: { 'x-should-retry': 'false' },
      },
    ],
  };
}

export const captureScreens = (cli: TerminalCliName, real: RealCli): Promise<Map<string, ScreenFixture>> =>
  withScratch((scratch) => photograph(cli, real, scratch));

async function photograph(
  cli: TerminalCliName,
  real: RealCli,
  { home, project }: Scratch,
): Promise<Map<string, ScreenFixture>> {
  const dialect = DIALECTS[cli];
  const model = await startScriptedModel(turnsOf(dialect, project));
  const environment = await HOMES[cli]({ home, baseUrl: model.server.url });
  const open = (args: readonly string[] = []): Stage =>
    new Stage({
      cli,
      version: real.version,
      file: real.file,
      args: [...dialect.args, ...args],
      cwd: project,
      env: { ...commonEnvironment(real.file), ...environment },
    });
  const shots = new Map<string, ScreenFixture>();
  const stages: Stage[] = [];
  try {
    // It starts itself again after the answer, and then asks once more or not: the rest begins in a trusted folder.
    if (cli === 'gemini') {
      const first = open();
      stages.push(first);
      await attempt(cli, first, () => passStart(cli, first));
      for (const [name, shot] of first.shots) shots.set(name, shot);
      await first.close();
      await trustFolder(home, project);
    }
    const stage = open();
    stages.push(stage);
    await attempt(cli, stage, () => work(cli, stage, model, dialect, project));
    for (const [name, shot] of stage.shots) shots.set(name, shot);
    await stage.close();
    for (const extra of EXTRA_SCREENS[cli]) {
      const scratch = { home: join(home, 'other'), project };
      await mkdir(scratch.home);
      const prepared = await extra.prepare({ ...scratch, baseUrl: model.server.url });
      const other = new Stage({
        cli,
        version: real.version,
        file: real.file,
        args: prepared.args ?? dialect.args,
        cwd: project,
        env: { ...commonEnvironment(real.file), ...prepared.env },
      });
      stages.push(other);
      await attempt(cli, other, () => extra.play(other));
      for (const [name, shot] of other.shots) shots.set(name, shot);
      await other.close();
      await rm(scratch.home, { recursive: true, force: true, maxRetries: 10 });
    }
  } finally {
    await Promise.all(stages.map((stage) => stage.close().catch(() => undefined)));
    await model.server.close();
  }
  return shots;
}

/** A script that a version no longer follows still gives the screens up to there. */
async function attempt(cli: string, stage: Stage, play: () => Promise<void>): Promise<void> {
  try {
    await play();
  } catch (error) {
    const at = [...stage.shots.keys()].at(-1) ?? 'the start';
    const screen = await stage.terminal.read();
    console.error(
      `${cli}: stopped after ${at}: ${error instanceof Error ? error.message : String(error)}\n${screen}`,
    );
    process.exitCode = 1;
  }
}

/** Until the model is asked; an Enter that a busy CLI took for a part of a paste is pressed again. */
async function ask(stage: Stage, model: ScriptedModel, text: string): Promise<void> {
  const turn = /turn-[a-z-]+/.exec(text)?.[0] ?? text;
  await stage.prompt(text);
  for (let attempts = 1; ; attempts++) {
    try {
      await model.waitUntilAsked(turn, 1, attempts === 1 ? 90_000 : 20_000);
      return;
    } catch (error) {
      if (attempts === 2) throw error;
      stage.press('\r');
    }
  }
}

/** The model has asked for the tool, and the dialog had time to come: older text on the screen may look like it. */
async function untilAsked(stage: Stage, model: ScriptedModel, turn: string, sees: RegExp): Promise<void> {
  await delay(1500);
  await stage.sees(sees);
  if (model.asked(turn) !== 1) throw new Error(`${turn} did not wait for an answer`);
}

/** Every command of ours makes a file first: then it runs, whatever the screen says. */
async function untilRuns(project: string, file: string): Promise<void> {
  const end = performance.now() + 30_000;
  while (!existsSync(join(project, file))) {
    if (performance.now() > end) throw new Error(`the command that makes ${file} does not run`);
    await delay(25);
  }
}

async function work(
  cli: TerminalCliName,
  stage: Stage,
  model: ScriptedModel,
  dialect: Dialect,
  project: string,
): Promise<void> {
  await passStart(cli, stage);

  await stage.shoot('idle-fresh', 'idle');
  await stage.type('half a thought about the');
  await stage.shoot('idle-half-typed', 'idle');
  stage.press('\x15');
  await stage.settle();
  stage.press('\x1b[200~first pasted line\nsecond pasted line\nthird\x1b[201~');
  await stage.settle();
  await stage.shoot('idle-pasted', 'idle');
  await clear(stage);
  await stage.type('/');
  await stage.settle();
  await stage.shoot('idle-command-menu', 'idle');
  stage.press('\x7f');
  await clear(stage);

  await ask(stage, model, 'Say hello, turn-hello');
  await stage.sees(/What shall we do today/);
  await stage.settle({ quietMs: 1200 });
  await stage.shoot('idle-after-answer', 'idle');

  await ask(stage, model, 'Think first, turn-wait');
  for (const at of [1, 2, 3]) {
    await delay(600);
    await stage.shoot(`working-waiting-${at}`, 'working');
  }
  await stage.sees(/Now\./);
  await stage.settle({ quietMs: 1200 });

  await ask(stage, model, 'Tell a story, turn-slow');
  await delay(900);
  await stage.shoot('working-streaming-1', 'working');
  await delay(700);
  await stage.shoot('working-streaming-2', 'working');
  await stage.type('next I want');
  await stage.shoot('working-half-typed', 'working');
  await clear(stage);
  await stage.settle({ quietMs: 1500, capMs: 15_000 });
  await stage.shoot('idle-after-story', 'idle');

  await ask(stage, model, 'Run it, turn-command');
  await untilAsked(stage, model, 'turn-command', dialect.approvalSees);
  await stage.shoot('blocked-command', 'blocked', 'approval');
  await delay(2500);
  await stage.shoot('blocked-command-later', 'blocked', 'approval');
  stage.press(dialect.allow);
  await untilRuns(project, 'counted.txt');
  await delay(600);
  await stage.shoot('working-command-1', 'working');
  await delay(700);
  await stage.shoot('working-command-2', 'working');
  await stage.sees(/The command has run/);
  await stage.settle({ quietMs: 1200 });
  await stage.shoot('idle-after-command', 'idle');

  await ask(stage, model, 'Run the other, turn-denied');
  await untilAsked(stage, model, 'turn-denied', dialect.approvalSees);
  await stage.shoot('blocked-command-short', 'blocked', 'approval');
  stage.press(dialect.deny);
  await stage.settle({ quietMs: 1500 });
  await stage.shoot('idle-after-denial', 'idle');
  await clear(stage);

  await ask(stage, model, 'Write it down, turn-write');
  await untilAsked(stage, model, 'turn-write', dialect.approvalSees);
  await stage.shoot('blocked-edit', 'blocked', 'approval');
  stage.press(dialect.allow);
  await stage.sees(/Written\./);
  await stage.settle({ quietMs: 1200 });
  await stage.shoot('idle-after-edit', 'idle');

  if (dialect.question !== null) {
    await ask(stage, model, 'Ask me, turn-question');
    await untilAsked(stage, model, 'turn-question', dialect.questionSees);
    await stage.shoot('blocked-question', 'blocked', 'question');
    stage.press('\x1b');
    await stage.settle({ quietMs: 1500 });
    await stage.shoot('idle-after-question', 'idle');
    await clear(stage);
  }

  await ask(stage, model, 'Talk on, turn-interrupt');
  await delay(2500);
  await stage.shoot('working-before-interrupt', 'working');
  await interrupt(cli, stage);
  await stage.settle({ quietMs: 1500 });
  await stage.shoot('idle-after-interrupt', 'idle');
  await clear(stage);

  await ask(stage, model, 'Show a dialog, turn-alike');
  await delay(1700);
  await stage.shoot('working-alike', 'working');
  await stage.sees(/And that is all/);
  await stage.settle({ quietMs: 1500 });
  await stage.shoot('idle-alike', 'idle');

  await ask(stage, model, 'Print a dialog, turn-tool-alike');
  await untilAsked(stage, model, 'turn-tool-alike', dialect.approvalSees);
  await stage.shoot('blocked-alike', 'blocked', 'approval');
  stage.press(dialect.allow);
  await untilRuns(project, 'alike.txt');
  await delay(1200);
  await stage.shoot('working-tool-alike', 'working');
  await stage.sees(/It printed some lines/);
  await stage.settle({ quietMs: 1500 });
  await stage.shoot('idle-tool-alike', 'idle');

  await stage.resize(40, 30);
  await stage.shoot('idle-narrow', 'idle');
  await ask(stage, model, 'turn-narrow');
  // The words of the dialog are broken over lines here.
  await untilAsked(stage, model, 'turn-narrow', /./);
  await stage.shoot('blocked-narrow', 'blocked', 'approval');
  stage.press(dialect.allow);
  await stage.sees(/Narrow indeed/);
  await stage.resize(200, 50);
  await stage.shoot('idle-wide', 'idle');
  await ask(stage, model, 'turn-wide');
  await untilAsked(stage, model, 'turn-wide', dialect.approvalSees);
  await stage.shoot('blocked-wide', 'blocked', 'approval');
  stage.press(dialect.allow);
  await stage.sees(/Wide indeed/);
  await stage.resize(100, 30);

  await ask(stage, model, 'Break it, turn-cut');
  await stage.sees(/After the cut|rror|fail|disconnected/);
  await stage.settle({ quietMs: 2500, capMs: 15_000 });
  await stage.shoot('idle-after-cut', 'idle');

  await ask(stage, model, 'Spend it all, turn-quota');
  await stage.settle({ quietMs: 3000, capMs: 20_000 });
  // Some try again for minutes.
  const asked = model.asked('turn-quota');
  await delay(3000);
  const retries = asked > 1 && /esc|interrupt|cancel|retrying/i.test(await stage.terminal.read());
  await stage.shoot(retries ? 'working-quota' : 'idle-quota', retries ? 'working' : 'idle', 'quota');
  if (retries) {
    await interrupt(cli, stage);
    await stage.settle({ quietMs: 1500 });
  }
  await clear(stage);

  stage.press('\x03');
  await stage.settle({ quietMs: 300, capMs: 800 });
  await stage.shoot('idle-exit-hint', 'idle');
  // Codex leaves at once.
  if (await isGone(stage, 3000)) {
    stage.shots.delete('idle-exit-hint');
    return;
  }
  await stage.prompt(dialect.exit);
  await Promise.race([stage.terminal.exit, delay(5000)]);
  await stage.shoot('exited', 'exited');
}

async function isGone(stage: Stage, withinMs: number): Promise<boolean> {
  const gone = await Promise.race([stage.terminal.exit.then(() => true), delay(withinMs, false)]);
  if (gone) await stage.shoot('exited', 'exited');
  return gone;
}

/** On a busy machine some take a minute. */
const START_DEADLINE_MS = 180_000;

/** Every frame until something waits for a person. */
async function passStart(cli: TerminalCliName, stage: Stage): Promise<void> {
  const { screens, idle } = FIRST_RUNS[cli];
  let frames = 0;
  let last = '';
  let steadySince = performance.now();
  let answered = '';
  for (const end = performance.now() + START_DEADLINE_MS; performance.now() < end;) {
    const text = await stage.terminal.read();
    const now = performance.now();
    if (text !== last) [last, steadySince] = [text, now];
    const dialog = screens.find(({ sees }) => sees.test(text));
    const state = dialog?.name ?? (idle.test(text) ? 'idle' : 'starting');
    const steadyMs = now - steadySince;
    if (state === 'starting' && frames < 3 && stage.terminal.raw !== '' && steadyMs === 0)
      await stage.shoot(`starting-${++frames}`, 'starting');
    if (state === 'idle' && steadyMs > 1500) return;
    if (dialog !== undefined && steadyMs > 700 && answered !== dialog.name) {
      await stage.shoot(`blocked-${dialog.name}`, 'blocked', dialog.reason);
      answered = dialog.name;
      for (const key of dialog.keys) {
        stage.press(key);
        await delay(150);
      }
    }
    await delay(15);
  }
  throw new Error(`not ready; the screen:\n${last}`);
}

export async function clear(stage: Stage): Promise<void> {
  // Twice: a pasted text has several lines, and each goes on its own.
  for (const key of ['\x15', '\x7f', '\x15', '\x7f', '\x15']) {
    stage.press(key);
    await delay(60);
  }
  await stage.settle({ quietMs: 300, capMs: 1500 });
}

/** OpenCode wants it twice. */
async function interrupt(cli: TerminalCliName, stage: Stage): Promise<void> {
  stage.press('\x1b');
  if (cli !== 'opencode') return;
  await delay(300);
  await stage.shoot('working-interrupt-hint', 'working');
  stage.press('\x1b');
}
