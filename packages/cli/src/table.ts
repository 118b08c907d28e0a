/**
 * Aligned columns that fit the terminal. Only columns declared as shrinkable give way, the last one first; a cell is cut
 * before it is coloured, so that no colour is cut in half.
 */
import { displayWidth, fitToWidth } from './display-width.ts';
import { printable } from './printable.ts';

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Fewest cells that it may be cut to when the terminal is narrow; absent: never cut. */
  readonly shrinksTo?: number;
}

export interface Cell {
  readonly text: string;
  readonly paint?: (text: string) => string;
}

const GAP = '  ';

export function layOutTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  width: number,
): string[] {
  const shown = rows.map((row) => row.map(({ text, paint }) => ({ text: printable(text), paint })));
  const widths = columns.map((column, index) =>
    Math.max(displayWidth(column.title), ...shown.map((row) => displayWidth(row[index]?.text ?? ''))),
  );
  shrink(columns, widths, width);
  const header = columns.map(({ title }) => ({ text: title, paint: undefined }));
  return [header, ...shown].map((row) =>
    columns
      .map((column, index) => {
        const cell = row[index] ?? { text: '', paint: undefined };
        const cells = widths[index] ?? 0;
        const fitted = fitToWidth(cell.text, cells);
        const padding = ' '.repeat(Math.max(0, cells - displayWidth(fitted)));
        const painted = cell.paint === undefined ? fitted : cell.paint(fitted);
        return column.align === 'right' ? padding + painted : painted + padding;
      })
      .join(GAP)
      .trimEnd(),
  );
}

function shrink(columns: readonly Column[], widths: number[], width: number): void {
  let over = widths.reduce((sum, one) => sum + one, 0) + GAP.length * (widths.length - 1) - width;
  for (let index = columns.length - 1; index >= 0 && over > 0; index--) {
    const least = columns[index]?.shrinksTo;
    const current = widths[index] ?? 0;
    if (least === undefined || current <= least) continue;
    const cut = Math.min(over, current - least);
    widths[index] = current - cut;
    over -= cut;
  }
}
