/**
 * The words of a command line as values. Everything here refuses with `UsageError`, before anything is asked of a node.
 */
import { UsageError } from './usage-error.ts';

/** Everything behind the first `--` is meant for the program that is run, not for us. */
export function splitPassedThrough(argv: readonly string[]): {
  own: readonly string[];
  passedThrough: readonly string[] | undefined;
} {
  const cut = argv.indexOf('--');
  if (cut < 0) return { own: argv, passedThrough: undefined };
  return { own: argv.slice(0, cut), passedThrough: argv.slice(cut + 1) };
}

export type Launch =
  | { readonly kind: 'provider'; readonly provider: string; readonly arguments: string[] }
  | { readonly kind: 'command'; readonly command: string[] };

/** `PROVIDER [-- ARGS...]` or `-- COMMAND [ARGS...]`. `operands` are all, those behind `--` last. */
export function readLaunch(
  operands: readonly string[],
  passedThrough: readonly string[] | undefined,
): Launch {
  const named = operands.slice(0, operands.length - (passedThrough?.length ?? 0));
  const [provider, ...more] = named;
  if (provider === undefined) {
    if (passedThrough === undefined || passedThrough.length === 0) {
      throw new UsageError('name a provider, or a command after --');
    }
    return { kind: 'command', command: [...passedThrough] };
  }
  if (more.length > 0) throw new UsageError(`put the arguments of ${provider} after --`);
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(provider)) {
    throw new UsageError(`'${provider}' is no provider; a command goes after --`);
  }
  return { kind: 'provider', provider, arguments: [...(passedThrough ?? [])] };
}

export function readSize(text: string): { columns: number; rows: number } {
  const match = /^(\d{1,4})x(\d{1,4})$/i.exec(text);
  const columns = Number(match?.[1]);
  const rows = Number(match?.[2]);
  if (!isSide(columns) || !isSide(rows))
    throw new UsageError(`size '${text}' is not COLUMNSxROWS, each 1 to 1000`);
  return { columns, rows };
}

function isSide(cells: number): boolean {
  return cells >= 1 && cells <= 1000;
}

/** `NAME=VALUE`; a name alone takes the value from our own environment. */
export function readEnvironment(
  entries: readonly string[],
  own: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const entry of entries) {
    const cut = entry.indexOf('=');
    const name = cut < 0 ? entry : entry.slice(0, cut);
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,255}$/.test(name)) {
      throw new UsageError(`'${entry}' is not NAME=VALUE`);
    }
    const value = cut < 0 ? own[name] : entry.slice(cut + 1);
    if (value === undefined) throw new UsageError(`${name} is not set here; give a value with ${name}=VALUE`);
    environment[name] = value;
  }
  return environment;
}

export function readName(text: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text)) {
    throw new UsageError(`name '${text}' is not 1-64 of letters, digits, . _ -`);
  }
  return text;
}

export function readProvider(text: string): string {
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(text)) throw new UsageError(`'${text}' is no provider`);
  return text;
}

/** An id of a session that a provider keeps, or the beginning of one. */
export function readHistorySelector(text: string): string {
  if (!/^[0-9a-f]{4,16}$/.test(text)) {
    throw new UsageError(`'${text}' is not 4 to 16 hexadecimal digits; roost history ls   lists the ids`);
  }
  return text;
}

export function readWorkspaceId(text: string): string {
  if (!/^[a-z0-9][a-z0-9._-]{0,63}$/.test(text)) {
    throw new UsageError(`workspace id '${text}' is not 1-64 of a-z 0-9 . _ -`);
  }
  return text;
}

/** Seconds, with fractions, as milliseconds. */
export function readSeconds(text: string): number {
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(seconds)) throw new UsageError(`'${text}' is not a number of seconds`);
  return Math.round(seconds * 1000);
}

export function readCount(text: string, max: number): number {
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(count <= max)) throw new UsageError(`'${text}' is not a count from 0 to ${max}`);
  return count;
}

export function readInteger(text: string): number {
  const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw new UsageError(`'${text}' is not a whole number`);
  return value;
}
