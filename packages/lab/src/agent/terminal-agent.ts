// The agent on a terminal: modes, onboarding, composer, replies. Prompts are confirmed when they are submitted and
// worked on one after the other. Lines end in LF alone: Node's raw mode leaves the kernel's LF -> CRLF on.
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { Composer } from './composer.ts';
import { InputParser, type Token } from './input-parser.ts';
import { Journal } from './journal.ts';
import { type Performer, leave, perform } from './perform.ts';
import { QueryLedger } from './query-ledger.ts';
import type { Scenario, Settings } from './scenario.ts';
import { StandardInput, StandardOutput } from './standard-streams.ts';
import { type Step, stepOfCommand } from './steps.ts';

/** Long enough for the rest of a sequence that was cut by a read, short enough for a key. */
const ESCAPE_KEY_MS = 50;

export async function runTerminalAgent(scenario: Scenario): Promise<void> {
  const { settings } = scenario;
  const journal = new Journal(settings.log);
  journal.note('start', { pid: process.pid, columns: process.stdout.columns, rows: process.stdout.rows });
  const hangUpIgnored = settings.ignore.some((name) => signalName(name) === 'SIGHUP');
  const onTerminal = isatty(0) && isatty(1);
  let noteEnd: () => void = () => undefined;
  const endOfInput = new Promise<void>((resolve) => (noteEnd = resolve));
  const ended = (): void => {
    journal.note('end-of-input');
    // A hung-up terminal ends an agent, unless the scenario says to hang on.
    if (onTerminal && !hangUpIgnored) process.exit(129);
    noteEnd();
  };
  const output = new StandardOutput(ended);
  const agent = new TerminalAgent(scenario, output, journal);
  const { performer } = agent;
  for (const name of settings.ignore)
    process.on(signalName(name), (signal) => journal.note('signal', { signal }));
  process.on('SIGWINCH', () =>
    journal.note('resize', { columns: process.stdout.columns, rows: process.stdout.rows }),
  );
  if (settings.exitAfter > 0) setTimeout(() => void leave(settings.exitCode, performer), settings.exitAfter);
  // Nothing else keeps the process when reading is off.
  setInterval(() => undefined, 2 ** 30);

  if (settings.startDelay > 0) await delay(settings.startDelay);
  const input = new StandardInput({
    chunk: settings.readChunk,
    delay: settings.readDelay,
    onChunk: (chunk) => agent.receive(chunk),
    onEnd: ended,
  });
  await agent.run(input);
  if (onTerminal) return;
  await endOfInput;
  await agent.idle();
  await leave(settings.exitCode, performer);
}

const signalName = (name: string): NodeJS.Signals =>
  (name.startsWith('SIG') ? name : `SIG${name}`) as NodeJS.Signals;

class TerminalAgent {
  readonly performer: Performer;
  readonly #scenario: Scenario;
  readonly #output: StandardOutput;
  readonly #parser = new InputParser();
  readonly #composer = new Composer();
  #input: StandardInput | undefined;
  #onboardingKey: ((key: string) => void) | undefined;
  #escapeTimer: NodeJS.Timeout | undefined;
  #prompts = 0;
  #work: Promise<void> = Promise.resolve();
  #running: AbortController | undefined;

  constructor(scenario: Scenario, output: StandardOutput, journal: Journal) {
    this.#scenario = scenario;
    this.#output = output;
    const surface = {
      get isBroken() {
        return output.isBroken;
      },
      say: (text: string) => output.write(`${text}\n`),
      raw: (data: string | Buffer) => output.write(data),
      setReading: (on: boolean) => (on ? this.#input?.start() : this.#input?.stop()),
      restore: () => output.write(modes(scenario.settings).off),
    };
    this.performer = { settings: scenario.settings, surface, journal, queries: new QueryLedger() };
  }

  async run(input: StandardInput): Promise<void> {
    this.#input = input;
    const { settings, steps } = this.#scenario;
    await this.#output.write(modes(settings).on);
    if (!settings.noRead) input.start();
    for (const key of settings.onboarding) await this.#askForKey(key);
    await this.#output.write(settings.ready);
    this.performer.journal.note('ready');
    this.#enqueue(steps);
    await this.idle();
  }

  /** Resolves when all that was asked so far is done. */
  idle(): Promise<void> {
    return this.#work;
  }

  receive(chunk: Buffer): void {
    clearTimeout(this.#escapeTimer);
    this.#accept(this.#parser.push(chunk));
    if (this.#parser.holdsEscape)
      this.#escapeTimer = setTimeout(() => this.#accept(this.#parser.flushEscape()), ESCAPE_KEY_MS);
  }

  #accept(tokens: readonly Token[]): void {
    for (const token of tokens) {
      if (this.#onboardingKey !== undefined && token.kind !== 'answer') this.#onboardingKey(keyOf(token));
      else this.#take(token);
    }
  }

  #take(token: Token): void {
    const { journal, queries } = this.performer;
    if (token.kind === 'answer') {
      queries.answer(token.query);
      journal.note('answer', { query: token.query, text: token.text });
    } else if (token.kind === 'focus' || token.kind === 'sequence') {
      journal.note(token.kind, { text: token.kind === 'focus' ? String(token.focused) : token.text });
    } else if (token.kind === 'escape' || (token.kind === 'control' && token.byte === 0x03))
      this.#interrupt(token.kind);
    else if (token.kind === 'control' && token.byte === 0x04 && this.#composer.isEmpty)
      void leave(0, this.performer);
    this.#echo(token);
    const prompt = this.#composer.take(token);
    if (prompt !== undefined) this.#submit(prompt);
  }

  #interrupt(key: string): void {
    this.performer.journal.note('interrupt', { key, busy: this.#running !== undefined });
    this.#running?.abort();
  }

  #echo(token: Token): void {
    if (this.#scenario.settings.noEcho) return;
    if (token.kind === 'text') void this.#output.write(token.bytes);
    else if (token.kind === 'paste') void this.#output.write(`[pasted ${token.bytes.length} bytes]`);
    else if (token.kind === 'backspace') void this.#output.write('\b \b');
  }

  #submit(prompt: Buffer): void {
    const { settings } = this.#scenario;
    const sha256 = createHash('sha256').update(prompt).digest('hex');
    const text = prompt.toString('utf8');
    this.#prompts++;
    this.performer.journal.note('prompt', { index: this.#prompts, bytes: prompt.length, sha256, text });
    void this.#output.write(`\nreceived ${prompt.length} bytes sha256=${sha256}\n`);
    this.#enqueue([
      ...(settings.work > 0 ? [{ do: 'spinner', ms: settings.work, interval: 100 } as const] : []),
      ...this.#stepsFor(text),
      ...(settings.reply === '' ? [] : [{ do: 'say', text: settings.reply } as const]),
      ...(settings.ready === '' ? [] : [{ do: 'write', text: settings.ready } as const]),
    ]);
  }

  #stepsFor(text: string): readonly Step[] {
    const rule = this.#scenario.onPrompt.find(({ match }) => match.test(text));
    if (rule !== undefined) return rule.steps;
    try {
      const command = stepOfCommand(text);
      return command === undefined ? [] : [command];
    } catch (error) {
      return [{ do: 'say', text: `refused: ${error instanceof Error ? error.message : String(error)}` }];
    }
  }

  #enqueue(steps: readonly Step[]): void {
    this.#work = this.#work.then(async () => {
      const controller = new AbortController();
      this.#running = controller;
      for (const step of steps) await perform(step, this.performer, controller.signal);
      this.#running = undefined;
    });
  }

  async #askForKey(wanted: string): Promise<void> {
    const { journal } = this.performer;
    await this.#output.write(`\x1b[1mWelcome to lab-agent\x1b[0m\nPress ${wanted} to continue\n`);
    await new Promise<void>((resolve) => {
      this.#onboardingKey = (key) => {
        journal.note('onboarding', { wanted, key });
        if (key !== wanted) return;
        this.#onboardingKey = undefined;
        resolve();
      };
    });
  }
}

function keyOf(token: Token): string {
  return token.kind === 'text' ? token.bytes.toString('utf8') : token.kind;
}

/** What is switched on at the start, and its undoing in reverse order. */
function modes(settings: Settings): { on: string; off: string } {
  const numbers = [
    ...(settings.alternateScreen ? ['1049'] : []),
    ...(settings.bracketedPaste ? ['2004'] : []),
    ...(settings.focus ? ['1004'] : []),
    ...settings.mouse,
  ];
  const on = [
    ...numbers.map((number) => `\x1b[?${number}h`),
    ...(settings.kitty > 0 ? [`\x1b[>${settings.kitty}u`] : []),
    ...(settings.cursorShape > 0 ? [`\x1b[${settings.cursorShape} q`] : []),
    ...(settings.hideCursor ? ['\x1b[?25l'] : []),
    ...(settings.title === '' ? [] : [`\x1b]0;${settings.title}\x07`]),
  ];
  const off = [
    ...(settings.hideCursor ? ['\x1b[?25h'] : []),
    ...(settings.cursorShape > 0 ? ['\x1b[0 q'] : []),
    ...(settings.kitty > 0 ? ['\x1b[<u'] : []),
    ...numbers.toReversed().map((number) => `\x1b[?${number}l`),
  ];
  return { on: on.join(''), off: off.join('') };
}
