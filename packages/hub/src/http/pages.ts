// Pages of a list in order: what matches after a cursor, how many match at all, and the cursor of the next page.
import type * as z from 'zod';
import { FailureError } from '@roost/protocol';

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** All that match, on whatever page. */
  readonly total: number;
  /** null: this is the last. */
  readonly next: string | null;
}

export interface PageOf<Row> {
  readonly rows: readonly Row[];
  readonly matches: (row: Row) => boolean;
  /** Position of the first row that may be on the page. */
  readonly from: number;
  readonly limit: number;
  readonly cursorOf: (row: Row) => string;
}

export function pageOf<Row>({ rows, matches, from, limit, cursorOf }: PageOf<Row>): Page<Row> {
  const page: Row[] = [];
  let total = 0;
  let hasMore = false;
  for (const [index, row] of rows.entries()) {
    if (!matches(row)) continue;
    total += 1;
    if (index < from) continue;
    if (page.length < limit) page.push(row);
    else hasMore = true;
  }
  const last = page.at(-1);
  return { rows: page, total, next: hasMore && last !== undefined ? cursorOf(last) : null };
}

/** The place of the last row of a page, in words that are nobody's business. */
export function encodeCursor(place: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/** @throws FailureError: invalid-request. */
export function decodeCursor<Place>(cursor: string, schema: z.ZodType<Place>): Place {
  try {
    const parsed = schema.safeParse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
    if (parsed.success) return parsed.data;
  } catch {
    // No JSON.
  }
  throw new FailureError('invalid-request', { field: 'cursor', reason: 'no cursor of this list' });
}
