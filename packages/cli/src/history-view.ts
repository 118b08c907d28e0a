/** Sessions that providers keep, as people read them. */
import type { HistoryEntry, HistoryMessage, HistorySkipped, HistoryUsage } from '@roost/protocol';
import type { Palette } from './paint.ts';
import { printable, printableLines } from './printable.ts';
import { describeAge } from './quantities.ts';
import type { Cell, Column } from './table.ts';

/** Digits of an id that are shown: enough to be unique among ten thousand, few enough to type. */
const ID_DIGITS_SHOWN = 10;

export const HISTORY_COLUMNS: readonly Column[] = [
  { title: 'ID' },
  { title: 'PROVIDER' },
  { title: 'CHANGED', align: 'right' },
  { title: 'WHERE', shrinksTo: 8 },
  { title: 'RECORD' },
  { title: 'TITLE', shrinksTo: 12 },
];

export function historyRow(entry: HistoryEntry, now: number, palette: Palette): Cell[] {
  return [
    { text: entry.id.slice(0, ID_DIGITS_SHOWN), paint: palette.strong },
    { text: entry.provider },
    { text: describeAge(now - Date.parse(entry.modifiedAt)) },
    { text: describePlace(entry), ...(entry.workspaceId === null ? { paint: palette.faint } : {}) },
    { text: entry.recordId?.slice(0, 8) ?? '', paint: palette.good },
    { text: entry.title ?? '-' },
  ];
}

/** Outside of all workspaces, only the name of the directory is known here. */
function describePlace({ workspaceId, place, group }: HistoryEntry): string {
  if (workspaceId !== null) return place === null ? workspaceId : `${workspaceId}/${place}`;
  return group === null || group.kind === 'global' ? '(unknown)' : `(${group.name})`;
}

/** Facts in the order in which they matter; what is not there is left out. */
export function historyFacts(entry: HistoryEntry): [string, string][] {
  const facts: [string, string | null][] = [
    ['title', entry.title],
    ['session', entry.id],
    ['provider', entry.provider],
    ['model', entry.model],
    ['where', describePlace(entry)],
    ['record', entry.recordId],
    ['began', entry.startedAt],
    ['changed', entry.modifiedAt],
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== null);
}

export function messageText({ role, text, tools, at }: HistoryMessage, palette: Palette): string {
  const head = palette.strong(role) + (at === null ? '' : palette.faint(` ${at}`));
  const used = tools.length === 0 ? [] : [palette.faint(`[${printable(tools.join(', '))}]`)];
  return [head, ...(text === '' ? [] : [printableLines(text)]), ...used].join('\n');
}

export function usageText(usage: HistoryUsage): string {
  const counts: [string, number | null][] = [
    ['in', usage.inputTokens],
    ['from cache', usage.cacheReadTokens],
    ['to cache', usage.cacheWriteTokens],
    ['out', usage.outputTokens],
    ['reasoning', usage.reasoningTokens],
  ];
  const told = counts.flatMap(([name, count]) => (count === null ? [] : [`${count} ${name}`]));
  return `tokens: ${told.join(', ')}`;
}

/** null when nothing was. */
export function skippedText({ links, tooLarge, unreadable, unknownFormat }: HistorySkipped): string | null {
  const counts: [number, string][] = [
    [links, 'behind links or no files'],
    [tooLarge, 'too large'],
    [unreadable, 'not readable'],
    [unknownFormat, 'of an unknown form'],
  ];
  const told = counts.flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`]));
  return told.length === 0 ? null : `passed over: ${told.join(', ')}`;
}
