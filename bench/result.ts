import type { SubjectName } from './subjects/subject.ts';

/** One row of a section's table: the same thing measured at each subject, once per repetition. */
export interface Measurement {
  readonly what: string;
  readonly unit: 'MB/s' | 'ms' | 'MiB' | 'KiB' | 'bytes' | 'lines' | 'lines/s' | 'events' | 'events/s' | '%';
  readonly samples: Partial<Record<SubjectName, readonly number[]>>;
}

/** A target beside what was measured; null when it could not be judged (a subject is missing). */
export interface Verdict {
  readonly target: string;
  readonly measured: string;
  readonly met: boolean | null;
}

export interface SectionResult {
  readonly id: string;
  readonly title: string;
  /** How it was measured, in a sentence or two. */
  readonly method: string;
  readonly measurements: readonly Measurement[];
  readonly verdicts: readonly Verdict[];
}

/** Collects samples by row, in the order in which the rows were first named. */
export class Samples {
  readonly #rows = new Map<string, { unit: Measurement['unit']; bySubject: Map<SubjectName, number[]> }>();

  add(what: string, unit: Measurement['unit'], subject: SubjectName, ...values: readonly number[]): void {
    const row = this.#rows.get(what) ?? { unit, bySubject: new Map<SubjectName, number[]>() };
    this.#rows.set(what, row);
    row.bySubject.set(subject, [...(row.bySubject.get(subject) ?? []), ...values]);
  }

  of(what: string, subject: SubjectName): readonly number[] | undefined {
    return this.#rows.get(what)?.bySubject.get(subject);
  }

  get measurements(): Measurement[] {
    return [...this.#rows].map(([what, { unit, bySubject }]) => ({
      what,
      unit,
      samples: Object.fromEntries(bySubject),
    }));
  }
}
