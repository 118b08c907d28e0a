/**
 * How a provider keeps its sessions, as far as Roost reads them. What is here opens nothing: it says where things lie, and makes
 * sense of text and rows that the node gives it, whatever they hold. Reading safely is the node's business.
 */
import {
  AGENT_NAME_BYTES_MAX,
  HISTORY_TEXT_BYTES_MAX,
  HISTORY_TITLE_BYTES_MAX,
  HISTORY_TOOLS_MAX,
  type HistoryUsage,
} from '@roost/protocol';
import { boundText, cleanText, eventName } from './agent-text.ts';
import { isObject, readObject, type JsonObject } from './json-object.ts';

export type ProviderHistory = HistoryFiles | HistoryDatabase;

export interface HistoryScene {
  /** Absolute. */
  readonly home: string;
  /** As the provider's own sessions see it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** A directory that its person chose, which may be reached over links, and one below it, which must not. */
export interface HistoryPlace {
  readonly base: string;
  readonly below: readonly string[];
}

/** One file a session: JSON, one object a line, only ever added to. */
export interface HistoryFiles {
  readonly kind: 'files';
  readonly root: (scene: HistoryScene) => HistoryPlace;
  /** Names on the way from the root to a session, its own the last. */
  readonly levels: readonly RegExp[];
  /** A file that says more about all of them, from the base. */
  readonly companion?: (scene: HistoryScene) => HistoryPlace;
  /** Bytes from the beginning, and from the end, in which everything is that a list shows. */
  readonly headBytes: number;
  readonly tailBytes: number;
  /**
   * `not-a-session`: it is something else, such as the work of a sub-agent. null: it is nothing that is understood, or too little of it
   * was read.
   */
  readonly summarise: (file: HistoryFile) => HistorySummary | 'not-a-session' | null;
  readonly reader: () => HistoryReader;
}

/** What the node has read of a file: whole lines. */
export interface HistoryFile {
  /** From the root; as many as there are levels. */
  readonly path: readonly string[];
  readonly head: string;
  /** The head is all of it. */
  readonly isWhole: boolean;
  /** Empty when the head is the whole file. */
  readonly tail: string;
  /** Text of the companion; null when there is none. */
  readonly companion: string | null;
}

/** A database of SQLite. The queries are facts about a foreign program; the node runs them, with nothing but reading allowed. */
export interface HistoryDatabase {
  readonly kind: 'database';
  readonly file: (scene: HistoryScene) => HistoryPlace;
  /** Tables with the columns that the queries need; without one of them it is another format. */
  readonly tables: Readonly<Record<string, readonly string[]>>;
  /** Sessions whose id comes after the first value, in the order of ids, at most as many as the second says. Each has `id`. */
  readonly sessions: string;
  readonly summarise: (row: JsonObject) => HistoryRow | 'not-a-session' | null;
  /** The row of the session of the first value. */
  readonly session: string;
  /**
   * Messages of the session of the first value that come after the time and id of the second and third, at most as many as the
   * fourth says, in that order. Each has `id` and `time`.
   */
  readonly messages: string;
  /** The same from the end: the newest ones, newest first. */
  readonly newestMessages: string;
  /** Parts of the message of the first value, in order, at most as many as the second says. */
  readonly parts: string;
  readonly read: (message: JsonObject, parts: readonly JsonObject[]) => HistoryItem | null;
  readonly usage: (row: JsonObject) => HistoryUsage | null;
}

export interface HistorySummary {
  /** The provider's own. */
  readonly sessionId: string;
  /** Where it ran, as the provider tells it; null: it does not. */
  readonly directory: string | null;
  readonly title: string | null;
  readonly model: string | null;
  /** Milliseconds since 1970. */
  readonly startedAt: number | null;
}

interface HistoryRow extends HistorySummary {
  readonly modifiedAt: number;
}

/** Reads one session, line by line, holding nothing but counts. */
export interface HistoryReader {
  /** What the line adds. */
  read(line: JsonObject): readonly HistoryItem[];
  /** Of everything that was read; null: nothing was told. */
  usage(): HistoryUsage | null;
}

export interface HistoryItem {
  readonly role: 'user' | 'assistant';
  /** Clean and cut. Empty: only tools, of the message before it when that is the agent's. */
  readonly text: string;
  readonly tools: readonly string[];
  readonly at: number | null;
  /** An item with the same key replaces the one before it. */
  readonly key: string | null;
}

export function historyItem(
  role: HistoryItem['role'],
  { text, tools = [], at = null, key = null }: Partial<Omit<HistoryItem, 'role'>>,
): HistoryItem[] {
  const bounded = boundText(text ?? '', HISTORY_TEXT_BYTES_MAX).trim();
  const named = tools
    .flatMap((tool) => eventName(tool, AGENT_NAME_BYTES_MAX) ?? [])
    .slice(0, HISTORY_TOOLS_MAX);
  return bounded === '' && named.length === 0 ? [] : [{ role, text: bounded, tools: named, at, key }];
}

/** One line, cut; null when nothing is left of it. */
export function historyTitle(text: string | null | undefined): string | null {
  if (text === null || text === undefined) return null;
  const line = cleanText(text.slice(0, 16 * HISTORY_TITLE_BYTES_MAX))
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line === '' ? null : boundText(line, HISTORY_TITLE_BYTES_MAX);
}

/** The JSON objects that the lines of a text are; others are passed over. */
export function* linesOf(text: string): Generator<JsonObject> {
  for (let from = 0; from < text.length;) {
    const end = text.indexOf('\n', from);
    const line = text.slice(from, end === -1 ? text.length : end);
    from += line.length + 1;
    const value = line.startsWith('{') ? readObject(line) : null;
    if (value !== null) yield value;
  }
}

export const asText = (value: unknown): string | null => (typeof value === 'string' ? value : null);

export const asObject = (value: unknown): JsonObject | null => (isObject(value) ? value : null);

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A count of tokens: a whole number that is not negative. */
export function asCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** A time as text or in milliseconds, as milliseconds within what a date can be. */
export function asTime(value: unknown): number | null {
  const time = typeof value === 'string' ? Date.parse(value) : value;
  return typeof time === 'number' && Number.isFinite(time) && Math.abs(time) <= 8.64e15
    ? Math.trunc(time)
    : null;
}

/** Where an absolute path of a variable says, else in the home directory. */
export function placeOf(
  { home, environment }: HistoryScene,
  variable: string,
  below: { readonly named: readonly string[]; readonly atHome: readonly string[] },
): HistoryPlace {
  const named = environment[variable];
  return named?.startsWith('/') === true
    ? { base: named, below: below.named }
    : { base: home, below: below.atHome };
}

export const UUID_NAME = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const NO_USAGE: HistoryUsage = {
  inputTokens: null,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  outputTokens: null,
  reasoningTokens: null,
  costUsd: null,
};

/** The two together; what neither tells stays unknown. */
export function addUsage(one: HistoryUsage | null, other: HistoryUsage): HistoryUsage {
  if (one === null) return other;
  const names = Object.keys(NO_USAGE) as (keyof HistoryUsage)[];
  return Object.fromEntries(
    names.map((name) => {
      const [a, b] = [one[name], other[name]];
      return [name, a === null ? b : b === null ? a : within(name, a + b)];
    }),
  ) as HistoryUsage;
}

/** Sums of hostile counts stay numbers that the wire takes. */
const within = (name: keyof HistoryUsage, sum: number): number =>
  name === 'costUsd' ? sum : Math.min(sum, Number.MAX_SAFE_INTEGER);
