/**
 * The arguments of an agent: what of them makes a launch, and what a resume gives again. Told by options that are known to take a
 * value; a word of which that is not known is taken for a prompt, for a prompt must never be sent twice.
 */
import type { ProviderCommandLine, ProviderTransport } from './manifest.ts';

/** What a launch does with one of the provider's own sessions. */
export type SessionChoice =
  /** Nothing is known of it. */
  | { readonly kind: 'none' }
  /** A new one with this id, when the provider takes ids and the arguments do not choose themselves. */
  | { readonly kind: 'assign'; readonly id: string }
  /** This one is run on. */
  | { readonly kind: 'resume'; readonly id: string };

/**
 * What a composer may take for a command of its own, and not for words to its model: `!` runs a shell (Codex 0.171.0). As an argument it
 * is not typed.
 */
const COMMAND_START = /^\s*[!/#&?]/;
/** Stands for the first prompt in what is shown of a command. */
const PROMPT_SHOWN = '…';

export interface ArgumentPlan {
  readonly arguments: readonly string[];
  /** The same for lists, notes and logs: without the words of the first prompt. */
  readonly shown: readonly string[];
  /** Id of the provider's session, when the launch decides it. */
  readonly sessionId: string | null;
  /** The first prompt is in none of them: it is to be typed. */
  readonly typesPrompt: boolean;
}

/** @returns null when the provider cannot resume, or takes no prompt, with this transport. */
export function planArguments(
  { identity, resume, prompt }: ProviderTransport,
  commandLine: ProviderCommandLine,
  wanted: {
    readonly arguments: readonly string[];
    readonly session: SessionChoice;
    readonly prompt: string | null;
    /** Its composer can be waited for, where the arguments leave it one. */
    readonly mayType: boolean;
  },
): ArgumentPlan | null {
  if (wanted.prompt !== null && prompt === null) return null;
  const { session } = wanted;
  const given = session.kind === 'resume' ? optionsOf(wanted.arguments, commandLine) : wanted.arguments;
  const typesPrompt =
    wanted.prompt !== null &&
    wanted.mayType &&
    !COMMAND_START.test(wanted.prompt) &&
    leavesComposer(given, commandLine);
  const planned = (own: readonly string[], sessionId: string | null): ArgumentPlan => {
    const ending = (text: string | null) =>
      text === null || prompt === null || prompt === 'spoken' || typesPrompt
        ? []
        : filled(prompt, '{prompt}', text);
    return {
      arguments: [...own, ...ending(wanted.prompt)],
      shown: [...own, ...ending(wanted.prompt === null ? null : PROMPT_SHOWN)],
      sessionId,
      typesPrompt,
    };
  };
  switch (session.kind) {
    case 'none':
      return planned(given, null);
    case 'assign': {
      if (identity?.kind !== 'assigned' || choosesSession(given, commandLine)) return planned(given, null);
      const own = filled(identity.arguments, '{id}', session.id);
      return planned([...own, ...given], session.id);
    }
    case 'resume': {
      if (resume === null) return null;
      const own = filled(resume.arguments, '{id}', session.id);
      return planned(resume.at === 'front' ? [...own, ...given] : [...given, ...own], session.id);
    }
  }
}

/** The options among the arguments with their values, without those that choose a session. */
function optionsOf(
  given: readonly string[],
  { values, choosesSession: chosen }: ProviderCommandLine,
): string[] {
  const kept: string[] = [];
  for (const { name, words } of piecesOf(given, values)) {
    if (words[0] === '--') break;
    if (name !== null && !chosen.includes(name)) kept.push(...words);
  }
  return kept;
}

/** As far as can be told: a word that is no option may be a command of its own, or a prompt. */
function leavesComposer(
  given: readonly string[],
  { values, withoutComposer = [] }: ProviderCommandLine,
): boolean {
  for (const { name } of piecesOf(given, values))
    if (name === null || withoutComposer.includes(name)) return false;
  return true;
}

/** An option with its values, or one word that is none. */
interface Piece {
  readonly name: string | null;
  readonly words: readonly string[];
}

function* piecesOf(given: readonly string[], values: ProviderCommandLine['values']): Generator<Piece> {
  for (let at = 0; at < given.length;) {
    const word = given[at] ?? '';
    const name = isOption(word) ? optionName(word) : null;
    const end = at + 1 + (word === name ? countValues(given.slice(at + 1), values[name]) : 0);
    yield { name, words: given.slice(at, end) };
    at = end;
  }
}

function choosesSession(given: readonly string[], { choosesSession: chosen }: ProviderCommandLine): boolean {
  const end = given.indexOf('--');
  return given
    .slice(0, end < 0 ? given.length : end)
    .some((word) => isOption(word) && chosen.includes(optionName(word)));
}

function countValues(rest: readonly string[], takes: 'one' | 'optional' | 'many' | undefined): number {
  const words = rest.findIndex((word) => isOption(word) || word === '--');
  const free = words < 0 ? rest.length : words;
  switch (takes) {
    case undefined:
      return 0;
    case 'one':
      return Math.min(1, rest.length);
    case 'optional':
      return Math.min(1, free);
    case 'many':
      return free;
  }
}

/** How something is said on a command line: by one of these options, and only with a value that begins so. */
export interface Saying {
  readonly saidBy: readonly string[];
  readonly saidAs?: string;
}

/** Whether the caller's own arguments say it. */
export function isSaid({ saidBy, saidAs = '' }: Saying, given: readonly string[]): boolean {
  const end = given.indexOf('--');
  const words = end < 0 ? given : given.slice(0, end);
  return words.some((word, at) => {
    if (!isOption(word)) return false;
    const name = optionName(word);
    if (saidBy.includes(name)) {
      const value = name === word ? (words[at + 1] ?? '') : word.slice(name.length + 1);
      return value.startsWith(saidAs);
    }
    // `-mMODEL`, `-cKEY=VALUE`
    const letter = word.slice(0, 2);
    return !word.startsWith('--') && saidBy.includes(letter) && word.slice(2).startsWith(saidAs);
  });
}

function isOption(word: string): boolean {
  return word.startsWith('-') && word !== '-' && word !== '--';
}

function optionName(word: string): string {
  return word.startsWith('--') ? (word.split('=', 1)[0] ?? word) : word;
}

export function filled(template: readonly string[], hole: string, value: string): string[] {
  return template.map((word) => word.split(hole).join(value));
}
