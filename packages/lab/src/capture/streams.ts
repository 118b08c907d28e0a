// The structured output of one CLI, captured conversation by conversation in one home.
import { setTimeout as delay } from 'node:timers/promises';
import { HOMES } from '../real-cli/homes.ts';
import type { RealCli } from '../real-cli/install.ts';
import type { RealCliName, TerminalCliName } from '../real-cli/versions.ts';
import { acpScripts } from './acp-scripts.ts';
import { commonEnvironment } from './common-environment.ts';
import { Conversation, type Said } from './conversation.ts';
import type { CapturedFiles } from './fixtures.ts';
import { Normaliser } from './normalise.ts';
import { type Scratch, withScratch } from './scratch.ts';
import { startScriptedModel } from './scripted-model.ts';
import { STREAM_SCRIPTS, type StreamPlace, type StreamScript, streamTurns } from './stream-scripts.ts';

/** The CLI whose home and whose tools an adapter uses. */
const BEHIND: Readonly<Record<RealCliName, TerminalCliName>> = {
  claude: 'claude',
  codex: 'codex',
  gemini: 'gemini',
  opencode: 'opencode',
  qwen: 'qwen',
  'claude-code-acp': 'claude',
  'codex-acp': 'codex',
};

const ACP_ARGUMENTS: Readonly<Partial<Record<RealCliName, readonly string[]>>> = {
  gemini: ['--acp', '--skip-trust'],
  opencode: ['acp'],
  qwen: ['--acp'],
  'claude-code-acp': [],
  'codex-acp': [],
};

/**
 * `NAME.jsonl` is what the CLI said, `NAME.in.jsonl` what it was told; of the Agent Client Protocol both stand in one file, in
 * order. `index.json` tells the arguments, the exit and the standard error of each.
 */
export async function captureStreams(cli: RealCliName, real: RealCli): Promise<CapturedFiles> {
  const files: CapturedFiles = new Map();
  const index: Record<string, unknown> = {};
  const ordinary = Object.entries(STREAM_SCRIPTS).find(([name]) => name === cli)?.[1] ?? [];
  const acp = ACP_ARGUMENTS[cli];
  for (const scripts of [ordinary, acp === undefined ? [] : acpScripts(acp)])
    if (scripts.length > 0)
      await withScratch((scratch) => playAll({ cli, real, scripts, scratch }, files, index));
  files.set('index.json', `${JSON.stringify({ cli, version: real.version, streams: index }, null, 2)}\n`);
  return files;
}

interface Performance {
  cli: RealCliName;
  real: RealCli;
  scripts: readonly StreamScript[];
  scratch: Scratch;
}

async function playAll(
  { cli, real, scripts, scratch: { home, project } }: Performance,
  files: CapturedFiles,
  index: Record<string, unknown>,
): Promise<void> {
  const behind = BEHIND[cli];
  const model = await startScriptedModel(streamTurns(behind));
  const normaliser = new Normaliser();
  let sessionId = '';
  try {
    const environment = await HOMES[behind]({ home, baseUrl: model.server.url });
    for (const script of scripts) {
      const talking = model.asked('turn-slow') + 1;
      const place: StreamPlace = {
        project,
        sessionId,
        untilTalking: async () => {
          await model.waitUntilAsked('turn-slow', talking, 60_000);
          await delay(2500);
        },
      };
      const args = typeof script.args === 'function' ? script.args(place) : script.args;
      const conversation = new Conversation({
        file: real.file,
        args,
        cwd: project,
        env: { ...commonEnvironment(real.file), ...environment },
        ...(script.answer === undefined ? {} : { answer: script.answer }),
      });
      try {
        await script.play?.(conversation, place);
      } catch (error) {
        console.error(`${cli} ${script.name}: ${error instanceof Error ? error.message : String(error)}`);
        process.exitCode = 1;
      }
      const ended = await conversation.end(script.play === undefined ? 90_000 : 5000);
      keep(script, conversation.said, files, normaliser);
      index[script.name] = normaliser.value({ args, ...ended });
      const ids = conversation.said.flatMap(({ from, message }) =>
        from === 'agent' ? [script.sessionId?.(message)] : [],
      );
      const id = ids.find((one) => typeof one === 'string' && one !== '');
      if (typeof id === 'string') sessionId = id;
    }
  } finally {
    await model.server.close();
  }
}

function keep(
  { name }: StreamScript,
  said: readonly Said[],
  files: CapturedFiles,
  normaliser: Normaliser,
): void {
  const jsonl = (values: readonly unknown[]): string =>
    values.map((value) => `${JSON.stringify(normaliser.value(value))}\n`).join('');
  if (name.startsWith('acp-')) {
    files.set(`${name}.jsonl`, jsonl(said));
    return;
  }
  const of = (who: Said['from']) => said.flatMap(({ from, message }) => (from === who ? [message] : []));
  files.set(`${name}.jsonl`, jsonl(of('agent')));
  const told = of('client');
  if (told.length > 0) files.set(`${name}.in.jsonl`, jsonl(told));
}
