/** Records as people read them. */
import type { SessionRecord } from '@roost/protocol';
import type { Paint, Palette } from './paint.ts';
import { describeAge } from './quantities.ts';
import type { Cell, Column } from './table.ts';

/** Digits of an id that are shown: enough to be unique among some hundred records, few enough to type. */
const ID_DIGITS_SHOWN = 8;

export const RECORD_COLUMNS: readonly Column[] = [
  { title: 'ID' },
  { title: 'NAME', shrinksTo: 8 },
  { title: 'PROVIDER', shrinksTo: 6 },
  { title: 'STATE' },
  { title: 'WORKSPACE', shrinksTo: 6 },
  { title: 'RUNS', align: 'right' },
  { title: 'CHANGED', align: 'right' },
  { title: 'ERROR', shrinksTo: 0 },
];

export function recordRow(record: SessionRecord, now: number, palette: Palette): Cell[] {
  return [
    { text: record.id.slice(0, ID_DIGITS_SHOWN), paint: palette.faint },
    { text: record.name, paint: palette.strong },
    { text: record.provider },
    { text: record.state, paint: statePaint(record, palette) },
    { text: record.workspaceId },
    { text: String(record.generation) },
    { text: describeAge(now - Date.parse(record.updatedAt)) },
    { text: record.lastError ?? '', paint: palette.bad },
  ];
}

/** Facts in the order in which they matter; what is not there is left out. */
export function recordFacts(record: SessionRecord): [string, string][] {
  const { activeSession, providerSession, environmentProfile, bundle, context, taskBinding } = record;
  const facts: [string, string | null | undefined][] = [
    ['name', record.name],
    ['record', record.id],
    ['state', record.state],
    ['error', record.lastError],
    ['provider', `${record.provider}, ${record.transport}`],
    ['known there as', providerSession?.id],
    [
      'session',
      activeSession === null ? null : `${activeSession.sessionId}, run ${activeSession.generation}`,
    ],
    ['runs', String(record.generation)],
    ['workspace', `${record.workspaceId} ${record.workspaceRoot}`],
    ['directory', record.directory],
    ['environment', environmentProfile && `${environmentProfile.profileId} ${environmentProfile.revision}`],
    ['bundle', bundle && `${bundle.id} ${bundle.revision}`],
    ['context', context?.id],
    ['task', taskBinding?.taskId],
    ['made', record.createdAt],
    ['changed', record.updatedAt],
  ];
  return facts.filter((fact): fact is [string, string] => typeof fact[1] === 'string');
}

function statePaint({ state }: SessionRecord, palette: Palette): Paint {
  switch (state) {
    case 'live':
      return palette.good;
    case 'identity-pending':
      return palette.warn;
    case 'dormant':
      return palette.faint;
    case 'unavailable':
      return palette.bad;
  }
}
