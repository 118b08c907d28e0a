// Which session or record a person means. In this order: the full id; the live one of that name; the newest other one of that name;
// the only one whose id starts with it.
import { FailureError, type FailureCode } from '@roost/protocol';

interface Selectable {
  readonly id: string;
  readonly name: string;
  readonly created_at: number;
}

interface SelectorRules<Row> {
  readonly isLive: (row: Row) => boolean;
  /** What is said when nothing matches. */
  readonly missing: FailureCode;
}

/** Digits of an id that a prefix needs. */
const PREFIX_LENGTH_MIN = 2;
/** Candidates that an ambiguity lists. */
const CANDIDATES_MAX = 16;

/** `rows`: those whose name is the selector or whose id starts with it. */
export function resolveSelector<Row extends Selectable>(
  selector: string,
  rows: readonly Row[],
  { isLive, missing }: SelectorRules<Row>,
): Row {
  const exact = rows.find((row) => row.id === selector);
  if (exact !== undefined) return exact;

  const named = rows.filter((row) => row.name === selector);
  const best = named.find(isLive) ?? newest(named);
  if (best !== undefined) return best;

  const prefixed =
    selector.length < PREFIX_LENGTH_MIN ? [] : rows.filter((row) => row.id.startsWith(selector));
  const [only, ...others] = prefixed;
  if (only === undefined) throw new FailureError(missing, { selector });
  if (others.length > 0) {
    const candidates = prefixed.slice(0, CANDIDATES_MAX).map((row) => `${row.name} (${row.id})`);
    throw new FailureError('ambiguous-session', { selector, candidates });
  }
  return only;
}

function newest<Row extends { created_at: number }>(rows: readonly Row[]): Row | undefined {
  return rows.reduce<Row | undefined>(
    (best, row) => (best === undefined || row.created_at >= best.created_at ? row : best),
    undefined,
  );
}
