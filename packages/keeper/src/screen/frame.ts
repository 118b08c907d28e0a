/**
 * What a viewer far away gets of a screen: its text and its drawing. Both are bounded whatever the program printed, since a cell
 * holds any number of combining characters: a line that is too long is left out, a drawing that is too long gives way to one
 * of the text alone.
 */
import { TERMINAL_RESET } from '@roost/protocol/terminal-reset';
import type { ScreenFrame } from '../wire.ts';
import type { Screen } from './screen.ts';

/** Characters: a large screen of which every cell has a color of its own stays below. */
const DRAWING_CHARACTERS_MAX = 1024 * 1024;
/** Characters of all lines together. */
const TEXT_CHARACTERS_MAX = 256 * 1024;

export function frameOf(screen: Screen): Omit<ScreenFrame, 'revision' | 'ended'> {
  const { lines, size, cursor, title, alternateScreen } = screen.readText(0);
  const shown = withinBound(lines);
  const whole = screen.draw(0);
  const drawing = whole.length <= DRAWING_CHARACTERS_MAX ? whole : drawText(shown, cursor);
  return { lines: shown, size, cursor, title, alternateScreen, drawing };
}

function withinBound(lines: readonly string[]): string[] {
  let left = TEXT_CHARACTERS_MAX;
  return lines.map((line) => {
    if (line.length > left) return '';
    left -= line.length;
    return line;
  });
}

function drawText(lines: readonly string[], cursor: ScreenFrame['cursor']): string {
  const drawn = lines.map((line, row) => `\x1b[${row + 1};1H${line}`).join('');
  const place = `\x1b[${cursor.row + 1};${cursor.column + 1}H${cursor.visible ? '' : '\x1b[?25l'}`;
  return `${TERMINAL_RESET}\x1b[H\x1b[J${drawn}${place}`;
}
