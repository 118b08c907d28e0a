// The agent as a structured pipe: JSON lines in, JSON lines out. Every line out has a number one above the last, so a
// reader can prove that none is missing or doubled.
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Journal } from './journal.ts';
import { type Performer, leave, perform } from './perform.ts';
import { QueryLedger } from './query-ledger.ts';
import type { Scenario } from './scenario.ts';
import { StandardInput, StandardOutput } from './standard-streams.ts';
import { type Step, stepOfCommand } from './steps.ts';

export async function runPipeAgent(scenario: Scenario): Promise<void> {
  const { settings } = scenario;
  const journal = new Journal(settings.log);
  const output = new StandardOutput(() => process.exit(1));
  let sequence = 0;
  let received = 0;
  const emit = (type: string, facts: Readonly<Record<string, unknown>> = {}): Promise<void> =>
    output.write(`${JSON.stringify({ seq: ++sequence, type, ...facts })}\n`);

  const performer: Performer = {
    settings,
    journal,
    queries: new QueryLedger(),
    surface: {
      get isBroken() {
        return output.isBroken;
      },
      say: (text) => emit('text', { text }),
      raw: (data) => emit('raw', { text: data.toString() }),
      setReading: (on) => (on ? input.start() : input.stop()),
      restore: () => emit('exit'),
    },
  };
  for (const name of settings.ignore) {
    const signal = (name.startsWith('SIG') ? name : `SIG${name}`) as NodeJS.Signals;
    process.on(signal, () => void emit('signal', { signal }));
  }
  if (settings.exitAfter > 0) setTimeout(() => void leave(settings.exitCode, performer), settings.exitAfter);
  // Nothing else keeps the process when reading is off.
  setInterval(() => undefined, 2 ** 30);
  if (settings.startDelay > 0) await delay(settings.startDelay);

  let work = Promise.resolve();
  const enqueue = (steps: readonly Step[]): void => {
    const { signal } = new AbortController();
    work = work.then(async () => {
      for (const step of steps) await perform(step, performer, signal);
    });
  };

  const accept = (line: Buffer): void => {
    received++;
    const sha256 = createHash('sha256').update(line).digest('hex');
    journal.note('prompt', { index: received, bytes: line.length, sha256, text: line.toString('utf8') });
    const text = promptOf(line);
    void emit('received', { index: received, bytes: line.length, sha256, json: text !== undefined });
    enqueue(stepsFor(text ?? '', scenario));
  };

  const lines = new LineSplitter(accept);
  const input = new StandardInput({
    chunk: settings.readChunk,
    delay: settings.readDelay,
    onChunk: (chunk) => lines.push(chunk),
    onEnd: () => {
      void work.then(() => emit('end', { received })).then(() => leave(settings.exitCode, performer));
    },
  });
  await emit('init', { pid: process.pid, cwd: process.cwd() });
  journal.note('ready');
  if (!settings.noRead) input.start();
  enqueue(scenario.steps);
  await work;
}

function stepsFor(text: string, { settings, onPrompt }: Scenario): readonly Step[] {
  const rule = onPrompt.find(({ match }) => match.test(text));
  const command = rule === undefined ? commandOf(text) : undefined;
  return [
    ...(settings.work > 0 ? [{ do: 'wait', ms: settings.work } as const] : []),
    ...(rule?.steps ?? (command === undefined ? [] : [command])),
    ...(settings.reply === '' ? [] : [{ do: 'say', text: settings.reply } as const]),
  ];
}

function commandOf(text: string): Step | undefined {
  try {
    return stepOfCommand(text);
  } catch (error) {
    return { do: 'say', text: `refused: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** `{"text": "..."}`; undefined for anything that is not a JSON object, and '' for an object without a text. */
function promptOf(line: Buffer): string | undefined {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'));
    if (typeof value !== 'object' || value === null) return undefined;
    return 'text' in value && typeof value.text === 'string' ? value.text : '';
  } catch {
    return undefined;
  }
}

class LineSplitter {
  readonly #onLine: (line: Buffer) => void;
  #parts: Buffer[] = [];

  constructor(onLine: (line: Buffer) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      const line = Buffer.concat([...this.#parts, chunk.subarray(start, end)]);
      this.#parts = [];
      start = end + 1;
      if (line.length > 0) this.#onLine(line);
    }
    if (start < chunk.length) this.#parts.push(chunk.subarray(start));
  }
}
