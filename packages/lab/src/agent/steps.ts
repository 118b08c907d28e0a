// What the agent can be told to do, declared once. Flags, JSON scenarios and `/commands` typed as prompts all come
// through `readStep`, so the three ways cannot drift apart.

interface NumberField {
  kind: 'number';
  default: number;
}
interface TextField {
  kind: 'text';
  default: string;
}
interface ChoiceField<Choice extends string> {
  kind: 'choice';
  default: Choice;
  choices: readonly Choice[];
}
type Field = NumberField | TextField | ChoiceField<string>;

const number = (fallback: number): NumberField => ({ kind: 'number', default: fallback });
const text = (fallback = ''): TextField => ({ kind: 'text', default: fallback });
const choice = <Choice extends string>(...choices: readonly [Choice, ...Choice[]]): ChoiceField<Choice> => ({
  kind: 'choice',
  default: choices[0],
  choices,
});

/** Fields in the order in which a `/command` takes them; the last text field takes the rest of the line. */
const STEPS = {
  write: { text: text() },
  say: { text: text() },
  lines: { count: number(0), interval: number(0) },
  flood: { bytes: number(1_000_000), kind: choice('plain', 'colour', 'cursor') },
  wait: { ms: number(1000) },
  spinner: { ms: number(1000), interval: number(100) },
  title: { text: text() },
  windowTitle: { text: text() },
  osc9: { text: text() },
  osc777: { title: text(), body: text() },
  osc133: { mark: text('A') },
  bell: {},
  mode: { number: number(1049), on: number(1) },
  query: { kinds: text('all'), ms: number(500) },
  spawn: { count: number(1), kind: choice('plain', 'setsid', 'daemon') },
  reading: { on: number(1) },
  size: {},
  pid: {},
  env: { name: text() },
  exit: { code: number(0) },
  kill: { signal: text('SIGKILL') },
} as const satisfies Record<string, Record<string, Field>>;

type ValueOf<F> = F extends NumberField
  ? number
  : F extends TextField
    ? string
    : F extends ChoiceField<infer C>
      ? C
      : never;
type StepName = keyof typeof STEPS;
type StepOf<Name extends StepName> = { do: Name } & {
  [F in keyof (typeof STEPS)[Name]]: ValueOf<(typeof STEPS)[Name][F]>;
};
export type Step = { [Name in StepName]: StepOf<Name> }[StepName];

export type StepInput = Record<string, unknown>;

const isStepName = (name: unknown): name is StepName =>
  typeof name === 'string' && Object.hasOwn(STEPS, name);

function readField(name: string, field: Field, value: unknown): number | string {
  if (value === undefined) return field.default;
  switch (field.kind) {
    case 'number': {
      const parsed = typeof value === 'string' && value !== '' ? Number(value) : value;
      if (typeof parsed !== 'number' || !Number.isFinite(parsed) || parsed < 0)
        throw new Error(`${name}: not a number`);
      return parsed;
    }
    case 'text':
      if (typeof value !== 'string') throw new Error(`${name}: not a text`);
      return value;
    case 'choice':
      if (typeof value !== 'string' || !field.choices.includes(value))
        throw new Error(`${name}: one of ${field.choices.join(', ')}`);
      return value;
  }
}

/** Checks one step and fills in its defaults. Throws with a sentence for the person who wrote the scenario. */
export function readStep(input: StepInput): Step {
  const { do: name, ...values } = input;
  if (!isStepName(name)) throw new Error(`unknown step: ${String(name)}`);
  const fields: Record<string, Field> = STEPS[name];
  for (const key of Object.keys(values))
    if (!Object.hasOwn(fields, key)) throw new Error(`${name} has no field ${key}`);
  const read = Object.entries(fields).map(
    ([key, field]) => [key, readField(`${name}.${key}`, field, values[key])] as const,
  );
  // The table and the type say the same thing; this is the one place where the compiler has to be told so.
  return { do: name, ...Object.fromEntries(read) } as unknown as Step;
}

/** `/lines 10 5` -> a step; undefined when the prompt is not a command of ours, so that it is echoed like any other. */
export function stepOfCommand(prompt: string): Step | undefined {
  const [head = '', ...words] = prompt.trim().split(' ');
  const name = head.slice(1);
  if (!head.startsWith('/') || !isStepName(name)) return undefined;
  const fields = Object.entries<Field>(STEPS[name]);
  const input: StepInput = { do: name };
  for (const [index, [key, field]] of fields.entries()) {
    const takesRest = field.kind === 'text' && index === fields.length - 1;
    const value = takesRest ? words.slice(index).join(' ') : words[index];
    if (value !== undefined && value !== '') input[key] = takesRest ? unescape(value) : value;
  }
  return readStep(input);
}

/** Command lines cannot hold control characters, so `\e \n \r \t \xHH \u{HEX}` stand for them. */
export function unescape(escaped: string): string {
  return escaped.replace(
    /\\(?:([enrt\\])|x([0-9a-fA-F]{2})|u\{([0-9a-fA-F]{1,6})\})/g,
    (_, letter?: string, byte?: string, point?: string) => {
      const hex = byte ?? point;
      if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
      return { e: '\x1b', n: '\n', r: '\r', t: '\t', '\\': '\\' }[letter ?? ''] ?? '';
    },
  );
}

interface ActionFlag {
  step: StepInput;
  /** The field that takes the flag's value; without one the flag stands alone. */
  value?: string;
}

/** Flags that append a step; they run in the order in which they were given. */
export const ACTION_FLAGS: Readonly<Record<string, ActionFlag>> = {
  write: { step: { do: 'write' }, value: 'text' },
  say: { step: { do: 'say' }, value: 'text' },
  lines: { step: { do: 'lines' }, value: 'count' },
  flood: { step: { do: 'flood' }, value: 'bytes' },
  silence: { step: { do: 'wait' }, value: 'ms' },
  wait: { step: { do: 'wait' }, value: 'ms' },
  spinner: { step: { do: 'spinner' }, value: 'ms' },
  osc9: { step: { do: 'osc9' }, value: 'text' },
  osc777: { step: { do: 'osc777' }, value: 'title' },
  osc133: { step: { do: 'osc133' }, value: 'mark' },
  bell: { step: { do: 'bell' } },
  query: { step: { do: 'query' }, value: 'kinds' },
  spawn: { step: { do: 'spawn' }, value: 'count' },
  'spawn-setsid': { step: { do: 'spawn', kind: 'setsid' }, value: 'count' },
  'spawn-daemon': { step: { do: 'spawn', kind: 'daemon' }, value: 'count' },
  exit: { step: { do: 'exit' }, value: 'code' },
  kill: { step: { do: 'kill' }, value: 'signal' },
};

/** Flags that change the last step given before them. */
export const MODIFIER_FLAGS: Readonly<Record<string, string>> = {
  interval: 'interval',
  'flood-kind': 'kind',
  'query-wait': 'ms',
  body: 'body',
};
