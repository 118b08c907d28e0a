/** Where an agent's composer stands on its screen and what is in it, as data: text that a person has begun must not be added to. */
import type { ScreenRegion, ScreenView } from './screen-rule.ts';
import { regionText } from './read-screen.ts';

export interface ComposerRule {
  readonly in: ScreenRegion;
  /** The composer; its first group is its text. The last match counts: what was sent before may look the same. No flag g or y. */
  readonly sees: RegExp;
  /** What stands in it while it is empty; tried on the text with single blanks. */
  readonly placeholders: readonly RegExp[];
  /** Its lower edge, as wide as it is: what stands further right belongs to something else. */
  readonly edge?: RegExp;
}

/** In single blanks, without its frame; empty when nothing was typed. null: no composer is seen. */
export function readComposer(rule: ComposerRule, view: ScreenView): string | null {
  const text = regionText(rule.in, rule.edge === undefined ? view : cutAtEdge(view, rule.edge));
  const found = [...text.matchAll(new RegExp(rule.sees, `${rule.sees.flags}g`))].at(-1);
  if (found === undefined) return null;
  const typed = (found[1] ?? '').replaceAll(/[┃\s]+/g, ' ').trim();
  return rule.placeholders.some((one) => one.test(typed)) ? '' : typed;
}

function cutAtEdge(view: ScreenView, edge: RegExp): ScreenView {
  const width = view.lines
    .map((line) => edge.exec(line)?.[0].length)
    .findLast((found) => found !== undefined);
  return width === undefined
    ? view
    : { ...view, lines: view.lines.map((line) => line.slice(0, width).trimEnd()) };
}
