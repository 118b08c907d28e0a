/**
 * `--set field=value` and `--clear field` as the overrides of a spawn spec. Every value passes the protocol's own schema
 * before a node is asked.
 */
import { LAUNCH_FIELDS, type LaunchField, type ParamsInput } from '@roost/protocol';
import { readSize } from './operands.ts';
import { UsageError } from './usage-error.ts';

type Overrides = NonNullable<ParamsInput<'spawn.submit'>['overrides']>;

/** As they are written on a command line. */
const FIELDS: Readonly<Record<string, { readonly field: LaunchField; readonly clears: boolean }>> = {
  provider: { field: 'provider', clears: false },
  transport: { field: 'transport', clears: false },
  size: { field: 'size', clears: false },
  arguments: { field: 'arguments', clears: true },
  prompt: { field: 'prompt', clears: true },
  'environment-profile': { field: 'environmentProfile', clears: true },
  bundle: { field: 'bundle', clears: true },
  context: { field: 'context', clears: true },
};

export function readOverrides(sets: readonly string[], clears: readonly string[]): Overrides {
  const overrides: Record<string, { kind: 'set'; value: unknown } | { kind: 'clear' }> = {};
  const add = (name: string, override: { kind: 'set'; value: unknown } | { kind: 'clear' }): void => {
    const { field } = fieldOf(name);
    if (field in overrides) throw new UsageError(`${name} is given twice`);
    overrides[field] = override;
  };
  for (const entry of sets) {
    const cut = entry.indexOf('=');
    if (cut < 0) throw new UsageError(`'${entry}' is not FIELD=VALUE`);
    const name = entry.slice(0, cut);
    add(name, { kind: 'set', value: readValue(name, entry.slice(cut + 1)) });
  }
  for (const name of clears) {
    if (!fieldOf(name).clears) throw new UsageError(`${name} cannot be empty; --set ${name}=... changes it`);
    add(name, { kind: 'clear' });
  }
  // Each value has passed the schema of its field.
  return overrides;
}

function fieldOf(name: string): { readonly field: LaunchField; readonly clears: boolean } {
  const found = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
  if (found === undefined) {
    throw new UsageError(`'${name}' is no field of a launch; those are ${Object.keys(FIELDS).join(', ')}`);
  }
  return found;
}

function readValue(name: string, text: string): unknown {
  const { field } = fieldOf(name);
  const value = field === 'size' ? readSize(text) : field === 'arguments' ? readArguments(text) : text;
  const parsed = LAUNCH_FIELDS[field].safeParse(value);
  if (parsed.success) return parsed.data;
  throw new UsageError(`${name} '${text}' is refused: ${parsed.error.issues[0]?.message ?? 'out of bounds'}`);
}

function readArguments(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return value;
  } catch {
    // The same answer as for JSON of another shape.
  }
  throw new UsageError(`arguments is a JSON array, such as '["--model","opus"]'; or give them after --`);
}
