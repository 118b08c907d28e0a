// A scenario is settings (how the agent is), steps (what it does once ready) and rules (what it does on a prompt).
// Flags are read over the JSON scenario, so a test can keep one file and vary one thing.
import { readFileSync } from 'node:fs';
import { ACTION_FLAGS, MODIFIER_FLAGS, readStep, type Step, type StepInput, unescape } from './steps.ts';

interface Setting<Value> {
  read: (value: unknown) => Value;
  default: Value;
  /** A flag without a value. */
  bare?: true;
}

const setting = <Value>(fallback: Value, read: (value: unknown) => Value): Setting<Value> => ({
  default: fallback,
  read,
});
const bare = (): Setting<boolean> => ({ default: false, read: (value) => value === true, bare: true });
const number = (fallback: number) =>
  setting(fallback, (value) => {
    const parsed = typeof value === 'string' && value !== '' ? Number(value) : value;
    if (typeof parsed !== 'number' || !Number.isFinite(parsed) || parsed < 0)
      throw new Error(`not a number: ${String(value)}`);
    return parsed;
  });
const text = (fallback: string) =>
  setting(fallback, (value) => {
    if (typeof value !== 'string') throw new Error('not a text');
    return value;
  });
const list = (fallback: readonly string[]) =>
  setting(fallback, (value) => {
    if (typeof value === 'string') return value === '' ? [] : value.split(',');
    if (!Array.isArray(value)) throw new Error('not a list');
    return value.map((one) => String(one));
  });

/** JSON names; a flag is the same name in kebab-case. */
const SETTINGS = {
  startDelay: number(0),
  /** One screen per key, answered in order: a single character, `enter` or `escape`. */
  onboarding: list([]),
  ready: text('❯ '),
  alternateScreen: bare(),
  mouse: list([]),
  bracketedPaste: bare(),
  focus: bare(),
  /** Flags of the kitty keyboard protocol to push; 0 pushes none. */
  kitty: number(0),
  /** DECSCUSR 1-6; 0 leaves the terminal's own. */
  cursorShape: number(0),
  hideCursor: bare(),
  title: text(''),
  noEcho: bare(),
  work: number(0),
  reply: text(''),
  log: text(''),
  readChunk: number(0),
  readDelay: number(0),
  noRead: bare(),
  ignore: list([]),
  spawnIgnore: bare(),
  spawnStdio: setting<'ignore' | 'inherit'>('ignore', (value) => {
    if (value !== 'ignore' && value !== 'inherit') throw new Error('ignore or inherit');
    return value;
  }),
  exitAfter: number(0),
  exitCode: number(0),
  dirtyExit: bare(),
  pipe: bare(),
};

export type Settings = { readonly [Name in keyof typeof SETTINGS]: (typeof SETTINGS)[Name]['default'] };

interface PromptRule {
  match: RegExp;
  steps: readonly Step[];
}

export interface Scenario {
  settings: Settings;
  steps: readonly Step[];
  onPrompt: readonly PromptRule[];
}

const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function readSteps(value: unknown): Step[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new Error('steps: not a list');
  return value.map((one: unknown) => {
    if (!isRecord(one)) throw new Error('a step is an object');
    return readStep(one);
  });
}

function readRules(value: unknown): PromptRule[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new Error('onPrompt: not a list');
  return value.map((one: unknown) => {
    if (!isRecord(one) || typeof one.match !== 'string') throw new Error('a prompt rule is {match, steps}');
    return { match: new RegExp(one.match, 'u'), steps: readSteps(one.steps) };
  });
}

function readDocument(json: string): Record<string, unknown> {
  const document: unknown = JSON.parse(json);
  if (!isRecord(document)) throw new Error('a scenario is an object');
  return document;
}

/** Throws an Error whose message is meant for the person who typed the command line. */
export function readScenario(argv: readonly string[]): Scenario {
  const document: Record<string, unknown> = {};
  const flagSteps: StepInput[] = [];
  const settingsByFlag = new Map(
    Object.entries(SETTINGS).map(([name, declared]) => [kebab(name), { name, bare: 'bare' in declared }]),
  );

  for (let at = 0; at < argv.length; at++) {
    const argument = argv[at] ?? '';
    if (!argument.startsWith('--')) throw new Error(`unexpected argument: ${argument}`);
    const [name, inline] = splitFlag(argument.slice(2));
    const take = (): string => {
      const value = inline ?? argv[++at];
      if (value === undefined) throw new Error(`--${name} needs a value`);
      return value;
    };
    const declared = settingsByFlag.get(name);
    const action = ACTION_FLAGS[name];
    const modified = MODIFIER_FLAGS[name];
    if (name === 'scenario') Object.assign(document, readDocument(readFileSync(take(), 'utf8')));
    else if (name === 'scenario-json') Object.assign(document, readDocument(take()));
    else if (declared !== undefined) document[declared.name] = declared.bare ? true : unescape(take());
    else if (action !== undefined)
      flagSteps.push(
        action.value === undefined ? action.step : { ...action.step, [action.value]: unescape(take()) },
      );
    else if (modified !== undefined) {
      const last = flagSteps.pop();
      if (last === undefined) throw new Error(`--${name} changes the step before it, and there is none`);
      flagSteps.push({ ...last, [modified]: take() });
    } else throw new Error(`unknown flag: --${name}`);
  }
  return fromDocument(document, flagSteps);
}

function splitFlag(flag: string): [string, string | undefined] {
  const equals = flag.indexOf('=');
  return equals < 0 ? [flag, undefined] : [flag.slice(0, equals), flag.slice(equals + 1)];
}

function fromDocument(document: Record<string, unknown>, flagSteps: readonly StepInput[]): Scenario {
  const { steps, onPrompt, ...values } = document;
  for (const name of Object.keys(values))
    if (!Object.hasOwn(SETTINGS, name)) throw new Error(`unknown setting: ${name}`);
  const read = Object.entries(SETTINGS).map(([name, declared]) => {
    const value = values[name];
    try {
      return [name, value === undefined ? declared.default : declared.read(value)] as const;
    } catch (error) {
      throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  });
  return {
    // The table and the type say the same thing.
    settings: Object.fromEntries(read) as unknown as Settings,
    steps: [...readSteps(steps), ...flagSteps.map(readStep)],
    onPrompt: readRules(onPrompt),
  };
}

/** All flag names, for the usage line. */
export function flagNames(): string[] {
  return [
    'scenario',
    'scenario-json',
    ...Object.keys(SETTINGS).map(kebab),
    ...Object.keys(ACTION_FLAGS),
    ...Object.keys(MODIFIER_FLAGS),
  ];
}
