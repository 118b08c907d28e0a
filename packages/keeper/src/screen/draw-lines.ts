/**
 * Draws lines of a buffer as bytes: cursor at the start of the first line and plain attributes before, plain attributes
 * after. Lines flow, so what does not fit scrolls up into the terminal's own history. A line that the program let wrap is
 * drawn by wrapping, so that the terminal copies and reflows it as one. Lines scroll in with the current background,
 * therefore the pen is plain whenever one may.
 */
import type { IBuffer, IBufferCell, IBufferLine } from '@xterm/headless';
import { attributesOf, HAS_EXTENDED } from './emulator-internals.ts';
import { type Pen, PLAIN_PEN, erasePenOf, penOf } from './pen.ts';

/** Opens the hyperlink of that number, or closes the open one for 0. */
export type LinkSequence = (id: number) => string;

export function drawLines(
  buffer: IBuffer,
  from: number,
  to: number,
  columns: number,
  link: LinkSequence,
): string {
  const drawing = new Drawing(buffer.getNullCell(), columns, link);
  let previous: IBufferLine | undefined;
  for (let row = from; row < to; row++) {
    const line = buffer.getLine(row);
    if (line === undefined) break;
    if (previous !== undefined) drawing.startLine(previous, line);
    drawing.drawLine(line);
    previous = line;
  }
  return drawing.finish();
}

class Drawing {
  #out = '';
  #pen: Pen = PLAIN_PEN;
  /** Packed attributes that `#pen` was made of: most cells look like the one before. */
  #fg = 0;
  #bg = 0;
  #wrapping = false;
  readonly #cell: IBufferCell;
  readonly #columns: number;
  readonly #link: LinkSequence;

  constructor(cell: IBufferCell, columns: number, link: LinkSequence) {
    this.#cell = cell;
    this.#columns = columns;
    this.#link = link;
  }

  startLine(previous: IBufferLine, line: IBufferLine): void {
    this.#wrapping = line.isWrapped && this.#wrapsInto(previous, line);
    if (this.#wrapping) return;
    this.#use(PLAIN_PEN);
    this.#out += '\r\n';
  }

  drawLine(line: IBufferLine): void {
    const cell = this.#cell;
    const columns = Math.min(this.#columns, line.length);
    /** Where the terminal's cursor is. */
    let column = 0;
    for (let x = 0; x < columns; x++) {
      line.getCell(x, cell);
      const width = cell.getWidth();
      const text = cell.getChars();
      if (text === '' || x + width > columns) {
        if (width === 0) continue;
        if (attributesOf(cell).bg === 0) continue;
        const erase = erasePenOf(attributesOf(cell));
        if (erase.background === 0) continue;
        const end = this.#endOfBlank(line, x, columns, erase.background);
        if (column !== x) this.#out += `\x1b[${x + 1}G`;
        column = x;
        this.#use(erase);
        this.#out += `\x1b[${end - x}X`;
        x = end - 1;
        continue;
      }
      if (column !== x) this.#out += `\x1b[${x + 1}G`;
      this.#useCell(width === 0);
      this.#out += text;
      column = x + width;
      if (this.#wrapping) {
        this.#wrapping = false;
        // The wrap may have scrolled a line in that is filled with the pen's background.
        if (this.#pen.background !== 0 && column < columns) {
          this.#use(PLAIN_PEN);
          this.#out += '\x1b[K';
        }
      }
    }
  }

  finish(): string {
    this.#use(PLAIN_PEN);
    return this.#out;
  }

  /** Whether printing `line` right after `previous` makes a terminal wrap by itself, and leaves the same cells. */
  #wrapsInto(previous: IBufferLine, line: IBufferLine): boolean {
    const last = this.#columns - 1;
    const cell = this.#cell;
    if (line.getCell(0, cell) === undefined || cell.getChars() === '') return false;
    const wide = cell.getWidth() === 2;
    const background = erasePenOf(attributesOf(cell)).background;
    if (previous.getCell(last, cell) === undefined) return false;
    if (isFilled(previous, last, cell)) return true;
    // A wide character leaves the last column empty, in its own background.
    return (
      wide && erasePenOf(attributesOf(cell)).background === background && isFilled(previous, last - 1, cell)
    );
  }

  #endOfBlank(line: IBufferLine, start: number, columns: number, background: number): number {
    const cell = this.#cell;
    let end = start + 1;
    while (end < columns) {
      line.getCell(end, cell);
      if (cell.getChars() !== '' || cell.getWidth() === 0) break;
      if (erasePenOf(attributesOf(cell)).background !== background) break;
      end++;
    }
    return end;
  }

  #useCell(force: boolean): void {
    const attributes = attributesOf(this.#cell);
    if (
      !force &&
      attributes.fg === this.#fg &&
      attributes.bg === this.#bg &&
      (attributes.bg & HAS_EXTENDED) === 0
    ) {
      return;
    }
    const pen = penOf(attributes);
    // A sequence between two characters keeps the terminal from joining them.
    if (force) this.#out += pen.sgr;
    this.#use(pen);
    this.#fg = attributes.fg;
    this.#bg = attributes.bg;
  }

  #use(pen: Pen): void {
    if (pen.sgr !== this.#pen.sgr) this.#out += pen.sgr;
    if (pen.link !== this.#pen.link) this.#out += this.#link(pen.link);
    this.#pen = pen;
    this.#fg = pen === PLAIN_PEN ? 0 : -1;
    this.#bg = pen === PLAIN_PEN ? 0 : -1;
  }
}

function isFilled(line: IBufferLine, column: number, cell: IBufferCell): boolean {
  if (column < 0 || line.getCell(column, cell) === undefined) return false;
  if (cell.getChars() !== '') return cell.getWidth() === 1;
  return (
    cell.getWidth() === 0 &&
    column > 0 &&
    line.getCell(column - 1, cell) !== undefined &&
    cell.getWidth() === 2
  );
}
