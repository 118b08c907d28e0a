/**
 * How many terminal cells a text takes. Exact enough for columns: wide East Asian characters and emoji count two, marks
 * that combine and joiners count nothing.
 */
/** Made when the first text needs it: that costs milliseconds, and most tables are plain ASCII. */
let segmenter: Intl.Segmenter | undefined;

function segmentsOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Emoji}\ufe0f/u;
const NARROW_ONLY = /^[\x20-\x7e]*$/;
const NOTHING = /^[\p{Mark}\p{Control}\u200b-\u200f\u2060\ufeff]*$/u;

function graphemeWidth(grapheme: string): number {
  if (NOTHING.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}

export function displayWidth(text: string): number {
  if (NARROW_ONLY.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmentsOf(text)) width += graphemeWidth(segment);
  return width;
}

/** Cut to at most `cells`, with an ellipsis where something is missing. */
export function fitToWidth(text: string, cells: number): string {
  if (displayWidth(text) <= cells) return text;
  if (cells < 1) return '';
  let fitted = '';
  let width = 0;
  for (const { segment } of segmentsOf(text)) {
    const next = width + graphemeWidth(segment);
    if (next > cells - 1) break;
    fitted += segment;
    width = next;
  }
  return `${fitted}…`;
}
