import type { Machine } from './machine.ts';
import type { Measurement, SectionResult, Verdict } from './result.ts';
import { spread } from './statistics.ts';
import type { SubjectName } from './subjects/subject.ts';

export interface Results {
  readonly machine: Machine;
  readonly subjects: readonly SubjectName[];
  readonly minutes: number;
  readonly sections: readonly SectionResult[];
}

/** The results as a page: what was measured on, every target with its verdict, then a table per section. */
export function renderReport({ machine, subjects, minutes, sections }: Results): string {
  const verdicts = sections.flatMap(({ id, verdicts }) =>
    verdicts.map(({ target, measured, met }) => [id, target, measured, verdictWord(met)]),
  );
  return [
    '# Benchmark results',
    'Written by `npm run bench`; how it measures is in [README.md](README.md). Medians, with min-max in brackets.',
    table(
      ['', ''],
      [
        ['date', machine.date],
        ['system', machine.system],
        ['processor', `${machine.cores} x ${machine.processor}, ${machine.memoryGiB} GiB`],
        ['runtime', machine.runtime],
        ['tmux', machine.tmux ?? 'not installed: no peer to compare with'],
        ['load at start', String(machine.loadAtStart)],
        ['took', `${minutes.toFixed(1)} minutes`],
      ],
    ),
    '## Targets',
    table(['', 'target', 'measured', ''], verdicts),
    ...sections.flatMap(({ id, title, method, measurements }) => [
      `## ${id}. ${title}`,
      method,
      measurementTable(measurements, subjects),
    ]),
  ]
    .join('\n\n')
    .concat('\n');
}

function verdictWord(met: Verdict['met']): string {
  if (met === null) return '-';
  return met ? 'met' : '**missed**';
}

function measurementTable(measurements: readonly Measurement[], subjects: readonly SubjectName[]): string {
  const withRatio = subjects.includes('tmux') && subjects.includes('roost');
  return table(
    ['', ...subjects, ...(withRatio ? ['roost / tmux'] : [])],
    measurements.map((measurement) => [
      `${measurement.what} (${measurement.unit})`,
      ...subjects.map((subject) => cell(measurement.samples[subject])),
      ...(withRatio ? [ratio(measurement)] : []),
    ]),
  );
}

function cell(samples: readonly number[] | undefined): string {
  if (samples === undefined) return '';
  const { median, min, max } = spread(samples);
  return samples.length === 1 ? figure(median) : `${figure(median)} (${figure(min)}-${figure(max)})`;
}

function ratio({ samples }: Measurement): string {
  if (samples.roost === undefined || samples.tmux === undefined) return '';
  const below = spread(samples.tmux).median;
  return below === 0 ? '' : (spread(samples.roost).median / below).toFixed(2);
}

function figure(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return value.toFixed(Math.abs(value) < 10 ? 2 : 1);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
