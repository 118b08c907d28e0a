/** For tests: a screen that can be looked into, and fragments of output to put it into any state. */
import type { IBuffer } from '@xterm/headless';
import fc from 'fast-check';
import { attributesOf, type EmulatorBuffer } from './emulator-internals.ts';
import { erasePenOf, penOf } from './pen.ts';
import { Screen, type ScreenOptions } from './screen.ts';

export class OpenScreen extends Screen {
  readonly answers: string[];

  constructor(options: Partial<ScreenOptions> = {}) {
    const answers: string[] = [];
    super({
      columns: 20,
      rows: 6,
      scrollbackLines: 40,
      answer: (report) => answers.push(report),
      changed: () => undefined,
      ...options,
    });
    this.answers = answers;
  }

  feed(text: string): this {
    this.write(Buffer.from(text, 'utf8'));
    return this;
  }

  /** Everything that a viewer or a program could tell apart. */
  state(history: number) {
    const { normal, alternate, active } = this.terminal.buffer;
    const { synchronizedOutputMode: _, ...modes } = this.terminal.modes;
    const first = Math.max(0, normal.baseY - history);
    return {
      size: [this.columns, this.rows],
      active: active.type,
      title: this.title,
      cursor: [active.cursorX, active.cursorY],
      pen: penOf(this.internals.attributes).sgr,
      shift: this.internals.shift,
      modes,
      convertEol: this.terminal.options.convertEol,
      normal: {
        lines: this.#lines(normal, first, normal.baseY + this.rows),
        ...this.#own(this.internals.normal),
      },
      alternate: this.alternateScreen
        ? { lines: this.#lines(alternate, 0, this.rows), ...this.#own(this.internals.alternate) }
        : null,
    };
  }

  /** The modes and the rest, as the screen itself would tell a terminal. */
  drawn(): string {
    return Buffer.from(this.snapshot({ scrollbackLines: 0 })).toString('utf8');
  }

  #own(buffer: EmulatorBuffer) {
    return {
      region: [buffer.scrollTop, buffer.scrollBottom],
      saved: [Math.min(buffer.savedX, this.columns - 1), penOf(buffer.savedCurAttrData).sgr],
      tabs: Array.from({ length: this.columns }, (_, column) => buffer.tabs[column] === true),
    };
  }

  #lines(buffer: IBuffer, from: number, to: number): string[] {
    const lines: string[] = [];
    for (let row = from; row < to; row++) {
      const line = buffer.getLine(row);
      let drawn = '';
      let before = '';
      for (let column = 0; column < this.columns; column++) {
        const cell = line?.getCell(column);
        // The second half of a wide character: the emulator sometimes has a blank there.
        const isHalf = column > 0 && line?.getCell(column - 1)?.getWidth() === 2;
        if (cell === undefined || isHalf) continue;
        const text = cell.getChars();
        const { sgr, link } = text === '' ? erasePenOf(attributesOf(cell)) : penOf(attributesOf(cell));
        const pen = `${sgr}${link === 0 ? '' : 'L'}`;
        if (pen !== before) drawn += pen;
        before = pen;
        drawn += text || (cell.getWidth() === 0 ? '' : ' ');
      }
      lines.push(drawn);
    }
    return lines;
  }

  /** The cursor waits behind a blank last column: drawing that prints a space, which only a terminal's copy tells apart. */
  get waitsOnBlank(): boolean {
    const { active } = this.terminal.buffer;
    const line = active.getLine(active.baseY + active.cursorY);
    return active.cursorX === this.columns && line?.getCell(this.columns - 1)?.getCode() === 0;
  }

  /** Lines of history that there are. */
  get history(): number {
    return this.terminal.buffer.normal.baseY;
  }
}

const number = (max: number) => fc.integer({ min: 0, max });
const sequence = (finals: string[], max = 12) =>
  fc.tuple(number(max), fc.constantFrom(...finals)).map(([count, final]) => `\x1b[${count}${final}`);
const privateModes = [
  1, 5, 6, 7, 9, 12, 25, 45, 66, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016, 2004, 2026,
];

const text = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom('a', 'b', ' ', 'Z', '0', '~') }),
  fc.string({ minLength: 15, maxLength: 70, unit: fc.constantFrom('w', 'x', ' ', 'y') }),
  fc.constantFrom(
    '漢字',
    '字',
    'e\u0301',
    '😀',
    '✅',
    'a\u0300b',
    '한글',
    '日'.repeat(17),
    'x'.repeat(19) + '漢',
  ),
  fc.constantFrom('\r\n', '\n', '\r', '\b', '\t', '\r\n\r\n\r\n', 'line\r\n'),
);
const attributes = fc
  .array(
    fc.constantFrom(
      ...[
        '0',
        '1',
        '2',
        '3',
        '4',
        '5',
        '7',
        '8',
        '9',
        '21',
        '22',
        '24',
        '27',
        '31',
        '44',
        '93',
        '105',
        '53',
        '39',
        '49',
      ],
      ...['38;5;200', '48;5;17', '38;2;1;2;3', '48;2;250;0;9', '4:3', '58:2::9:8:7', '58:5:3', '59'],
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((codes) => `\x1b[${codes.join(';')}m`);
const movement = fc.oneof(
  sequence(['A', 'B', 'C', 'D', 'E', 'F', 'G', 'd', 'H']),
  fc.tuple(number(8), number(24)).map(([row, column]) => `\x1b[${row};${column}H`),
  fc.constantFrom(
    '\x1bM',
    '\x1bD',
    '\x1bE',
    '\x1b7',
    '\x1b8',
    '\x1b[s',
    '\x1b[u',
    '\x1bH',
    '\x1b[g',
    '\x1b[3g',
  ),
);
const editing = fc.oneof(
  sequence(['J', 'K'], 3),
  sequence(['X', 'P', '@', 'L', 'M', 'S', 'T', 'b', 'I', 'Z'], 7),
  fc.tuple(number(6), number(7)).map(([top, bottom]) => `\x1b[${top};${bottom}r`),
  fc.constantFrom('\x1b#8', '\x1b[r', '\x1b[4h', '\x1b[4l', '\x1b[20h', '\x1b[20l'),
);
const modes = fc.oneof(
  fc
    .tuple(fc.constantFrom(...privateModes), fc.constantFrom('h', 'l'))
    .map(([mode, on]) => `\x1b[?${mode}${on}`),
  sequence([' q'], 7),
  fc.constantFrom('\x1b=', '\x1b>', '\x1b(0', '\x1b(B', '\x1b)0', '\x0e', '\x0f', '\x1b%G', '\x1b[!p'),
  fc.constantFrom('\x1b[>1u', '\x1b[>5u', '\x1b[<u', '\x1b[<2u', '\x1b[=3u', '\x1b[=4;2u', '\x1b[=1;3u'),
  fc.constantFrom('\x1b[>4;2m', '\x1b[>4m', '\x1b[>4;1m'),
);
const strings = fc.constantFrom(
  ...['\x1b]0;both\x07', '\x1b]1;icon\x1b\\', '\x1b]2;title \u00e9\x07', '\x1b[22t', '\x1b[23t'],
  ...['\x1b]8;;https://one.example/a;b\x1b\\', '\x1b]8;id=7;https://two.example\x1b\\', '\x1b]8;;\x1b\\'],
  ...[
    '\x1b]10;#123456\x07',
    '\x1b]11;rgb:1/2/3\x1b\\',
    '\x1b]12;#fff\x07',
    '\x1b]4;3;#a0b0c0;200;rgb:11/22/33\x07',
  ],
  ...['\x1b]104;3\x07', '\x1b]104\x07', '\x1b]110\x07', '\x1b]111\x07', '\x1b]112\x07'],
);
const screens = fc.constantFrom(
  '\x1b[?1049h',
  '\x1b[?1049l',
  '\x1b[?47h',
  '\x1b[?47l',
  '\x1b[?1047h',
  '\x1b[?1047l',
);

/** One whole sequence or piece of text. */
export const fragment: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 3, arbitrary: attributes },
  { weight: 3, arbitrary: movement },
  { weight: 3, arbitrary: editing },
  { weight: 3, arbitrary: modes },
  { weight: 2, arbitrary: strings },
  { weight: 1, arbitrary: screens },
  { weight: 1, arbitrary: fc.constant('\x1bc') },
);

/** What a sequence that never ends leaves a terminal in. */
export const unfinished: fc.Arbitrary<string> = fc.constantFrom(
  ...['', '\x1b', '\x1b[', '\x1b[?12;3', '\x1b[38;2;1', '\x1b[1$', '\x1b(', '\x1b]2;never', '\x1b]8;;http'],
  ...['\x1bP', '\x1bP1$', '\x1bPq#0', '\x1b_Gpayload', '\x1b^private', '\x1bXstring', '\u00e9'.slice(0, 0)],
);
