import fc from 'fast-check';
import { TERMINAL_RESET } from '@roost/protocol/terminal-reset';
import { describe, expect, it } from 'vitest';
import { fragment, OpenScreen, unfinished } from './screen-state.testing.ts';

/** Modes, pens, positions, an alternate screen: nothing that a program would leave on purpose. */
const HOSTILE =
  '\x1b]2;old\x07junk\r\n'.repeat(9) +
  '\x1b[?1049h\x1b[2;4r\x1b[?6h\x1b[4h\x1b[20h\x1b[?7l\x1b(0\x0e\x1b[7;41;58:5:3;4:3m\x1b[?1003;1006;1004;2004;1;66;45;25;5;12h' +
  '\x1b[?25l\x1b[6 q\x1b[>4;2m\x1b[>31u\x1b[>7u\x1b]8;;http://x\x07\x1b]10;#f00\x07\x1b]4;1;#00f\x07\x1b[3gmore\x1b[?2026h';

/** Sets what a snapshot leaves to the terminal when the session never touched it. */
const TOUCHED = '\x1b]0;t\x07\x1b[?1007l';

function expectSamePicture(from: OpenScreen, onto: OpenScreen, history: number): void {
  onto.write(from.snapshot({ scrollbackLines: history }));
  const lines = Math.min(history, from.history);
  expect(onto.state(lines)).toEqual(from.state(lines));
  if (!from.waitsOnBlank) expect(onto.drawn()).toBe(from.drawn());
}

describe('a snapshot', () => {
  const streams: Record<string, string> = {
    'plain lines': 'one\r\ntwo\r\n\r\nfour',
    'more lines than rows': Array.from({ length: 30 }, (_, i) => `line ${i}\r\n`).join(''),
    'sixteen, 256 and true colors':
      '\x1b[31;42mA\x1b[94;105mB\x1b[38;5;99;48;5;22mC\x1b[38;2;1;2;3;48;2;4;5;6mD\x1b[mE',
    'every attribute':
      '\x1b[1mb\x1b[2mbd\x1b[22;2md\x1b[3mi\x1b[4mu\x1b[4:3mc\x1b[58:2::1:2:3mC\x1b[5;7;8;9;53mx\x1b[mz',
    'colored blanks': '\x1b[44m\x1b[2J\x1b[3;5Hmid\x1b[K\x1b[41m\x1b[2;8H\x1b[5X\x1b[m\x1b[6;1Hend',
    'wide, combining and emoji': '漢字 e\u0301 😀✅ 한글\r\n' + '字'.repeat(25) + 'x',
    'wrapped lines':
      'w'.repeat(47) + '\r\n' + '\x1b[45m' + 'c'.repeat(33) + '\x1b[m\r\n' + 'x'.repeat(19) + '漢字',
    'a wrapped line in the history': 'h'.repeat(70) + '\r\n'.repeat(8) + 'now',
    'a cursor that waits to wrap': 'p'.repeat(20),
    'a cursor that waits to wrap after a wide character': '\x1b[32m' + 'p'.repeat(18) + '漢\x1b[31m',
    'a cursor that waits to wrap on an erased line': 'p'.repeat(20) + '\x1b[2K',
    'the alternate screen over content': 'shell $ vim\r\n\x1b[33m\x1b[?1049h\x1b[H\x1b[44mVIM\x1b[4;7Hcursor',
    'the alternate screen entered by 47': 'shell\x1b[?47h\x1b[2;2Halt',
    'a scroll region with origin mode': '\x1b[2;4r\x1b[?6hone\r\ntwo\r\nthree\r\nfour\x1b[2;3H',
    'a region behind the alternate screen': '\x1b[2;3rx\x1b[?1049h\x1b[1;4ry',
    'a saved cursor': '\x1b[3;7H\x1b[1;35m\x1b7\x1b[m\x1b[Htop',
    'line drawing': '\x1b(0lqqk\x1b(B\x1b)0\x0ex',
    'insert, no wrap, line feed modes': 'abc\x1b[4h\x1b[?7l\x1b[20h\x1b[2D',
    'mouse, focus, paste, keypad': '\x1b[?1002;1006;1004;2004;1h\x1b=\x1b[?1007l',
    'cursor shape, blink, hidden': '\x1b[5 q\x1b[?12h\x1b[?25l',
    'keyboard flags on both screens': '\x1b[=1u\x1b[>5u\x1b[?1049h\x1b[>3u\x1b[>4;2m',
    colors: '\x1b]10;#112233\x07\x1b]11;rgb:a/b/c\x07\x1b]4;7;#abc\x07',
    'title and icon': '\x1b]0;first\x07\x1b]2;second é\x07',
    hyperlinks: 'a \x1b]8;id=1;https://e.example/;x\x07link\x1b]8;;\x07 b \x1b]8;;https://f.example\x07open',
    'tab stops': '\x1b[3g\x1b[1;4H\x1bH\x1b[1;11H\x1bH\r\ta\tb',
    'an unfinished synchronized update': '\x1b[?2026hhalf',
    'an attribute on a blank next to text': 'a\x1b[7m \x1b[m b',
  };
  for (const [name, stream] of Object.entries(streams)) {
    for (const history of [0, 25]) {
      it(`draws ${name} on a hostile terminal, with ${history} lines of history`, () => {
        expectSamePicture(new OpenScreen().feed(TOUCHED + stream), new OpenScreen().feed(HOSTILE), history);
      });
    }
  }

  it('draws any state on a terminal in any state, even in the middle of a sequence', () => {
    const stream = fc.array(fragment, { maxLength: 40 });
    fc.assert(
      fc.property(stream, stream, unfinished, fc.constantFrom(0, 5, 40), (from, onto, tail, history) => {
        const target = new OpenScreen().feed(onto.join('') + tail);
        expectSamePicture(new OpenScreen().feed(from.join('') + TOUCHED), target, history);
      }),
      { numRuns: Number(process.env.RUNS ?? 400) },
    );
  });

  it('leaves a terminal that goes on exactly like the screen', () => {
    const stream = fc.array(fragment, { maxLength: 30 });
    // The saved cursor of a screen that is not shown stays with the terminal.
    const before = fc.array(
      fragment.filter((one) => one !== '\x1b7'),
      { maxLength: 30 },
    );
    // The stack of titles stays with the terminal.
    const next = fc.array(
      fragment.filter((one) => !/^\x1b\[2[23]t/.test(one)),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(stream, before, next, (from, onto, then) => {
        const screen = new OpenScreen().feed(from.join('') + TOUCHED);
        const target = new OpenScreen().feed(onto.join(''));
        target.write(screen.snapshot({ scrollbackLines: 0 }));
        expect(target.feed(then.join('')).state(0)).toEqual(screen.feed(then.join('')).state(0));
      }),
      { numRuns: Number(process.env.RUNS ?? 400) },
    );
  });

  it('shows the shell again when the program leaves the alternate screen', () => {
    const screen = new OpenScreen().feed('shell $ vim\x1b[?1049h\x1b[Hvim');
    const terminal = new OpenScreen().feed(HOSTILE);
    terminal.write(screen.snapshot({ scrollbackLines: 10 }));
    terminal.feed('\x1b[?1049l!');
    expect(terminal.readText(0).lines[0]).toBe('shell $ vim!');
  });

  it('keeps what the user had on the screen, when history is asked for', () => {
    const terminal = new OpenScreen().feed('mine\r\n$ attach');
    terminal.write(new OpenScreen().feed('theirs').snapshot({ scrollbackLines: 10 }));
    const { lines } = terminal.readText(100);
    expect(lines.slice(0, 2)).toEqual(['mine', '$ attach']);
    expect(lines.at(-6)).toBe('theirs');
  });

  it('adds nothing to the history when only the screen is drawn again', () => {
    const terminal = new OpenScreen().feed('mine');
    for (let i = 0; i < 3; i++)
      terminal.write(new OpenScreen().feed('theirs').snapshot({ scrollbackLines: 0 }));
    expect(terminal.readText(100).lines).toHaveLength(6);
  });

  it('leaves the title alone when the session has none', () => {
    const terminal = new OpenScreen().feed('\x1b]2;mine\x07');
    terminal.write(new OpenScreen().snapshot({ scrollbackLines: 0 }));
    expect(terminal.title).toBe('mine');
  });

  it('never leaves synchronized output on', () => {
    const bytes = new OpenScreen().feed('\x1b[?2026h').snapshot({ scrollbackLines: 5 });
    expect(Buffer.from(bytes).toString()).not.toContain('2026h');
  });
});

describe('TERMINAL_RESET', () => {
  it('takes back every mode and keeps what is on the screen', () => {
    const fresh = new OpenScreen().feed('\x1b]0;t\x07');
    const terminal = new OpenScreen().feed(
      'kept\r\nline\x1b[?1003;1006;1004;2004;1;66;45;25;5;12h\x1b[?25l\x1b[6 q\x1b[>4;2m\x1b[>31u\x1b[4h\x1b[20h\x1b[?7l' +
        '\x1b]10;#f00\x07\x1b]4;1;#00f\x07\x1b[1;41m\x1b]8;;http://x\x07\x1b]0;t\x07\x1b[?1049h\x1b[2;3r\x1b[?6h\x1b(0\x1b]2;unfinished',
    );
    terminal.feed(TERMINAL_RESET);
    const { modes, pen, shift, convertEol, active, cursor } = terminal.state(0);
    expect({ modes, pen, shift, convertEol, active }).toEqual(pick(fresh.state(0)));
    expect(cursor).toEqual([4, 1]);
    expect(terminal.readText(0).lines.slice(0, 2)).toEqual(['kept', 'line']);
    terminal.feed('\x1b[H\x1b[J\x1b7');
    expect(terminal.drawn()).toBe(fresh.drawn());
  });
});

function pick({ modes, pen, shift, convertEol, active }: ReturnType<OpenScreen['state']>) {
  return { modes, pen, shift, convertEol, active };
}

describe('questions of the program', () => {
  const answered: Record<string, [question: string, answer: string]> = {
    'device attributes': ['\x1b[c', '\x1b[?1;2c'],
    'secondary device attributes': ['\x1b[>c', '\x1b[>0;276;0c'],
    status: ['\x1b[5n', '\x1b[0n'],
    'cursor position': ['\x1b[3;4H\x1b[6n', '\x1b[3;4R'],
    'private cursor position': ['\x1b[?6n', '\x1b[?1;1R'],
    'a private mode': ['\x1b[?2004h\x1b[?2004$p', '\x1b[?2004;1$y'],
    'a mode': ['\x1b[4$p', '\x1b[4;2$y'],
    'size in characters': ['\x1b[18t', '\x1b[8;6;20t'],
    'scroll region': ['\x1bP$qr\x1b\\', '\x1bP1$r1;6r\x1b\\'],
    'keyboard flags': ['\x1b[>5u\x1b[?u', '\x1b[?5u'],
    foreground: ['\x1b]10;?\x07', '\x1b]10;rgb:d8d8/d8d8/d8d8\x1b\\'],
    background: ['\x1b]11;?\x1b\\', '\x1b]11;rgb:0000/0000/0000\x1b\\'],
    'a background that was set': ['\x1b]11;#1a2b3c\x07\x1b]11;?\x07', '\x1b]11;rgb:1a1a/2b2b/3c3c\x1b\\'],
    'a background that was reset': [
      '\x1b]11;#fff\x07\x1b]111\x07\x1b]11;?\x07',
      '\x1b]11;rgb:0000/0000/0000\x1b\\',
    ],
    'a palette color': ['\x1b]4;196;?\x07', '\x1b]4;196;rgb:ffff/0000/0000\x1b\\'],
    'a gray of the palette': ['\x1b]4;255;?\x07', '\x1b]4;255;rgb:eeee/eeee/eeee\x1b\\'],
  };
  for (const [name, [question, answer]] of Object.entries(answered)) {
    it(`are answered once: ${name}`, () => {
      expect(new OpenScreen().feed(question).answers).toEqual([answer]);
    });
  }

  it('get reports only: nothing else is ever sent to the program', () => {
    const quiet =
      '\x1b[?1004h\x1b[?1003;1006h\x1b[I\x07\x1b[?2004h\x1b[200~\x1b]52;c;?\x07\x1b]8;;x\x07\x1bZ\x05\x1b[?2048h';
    const screen = new OpenScreen().feed(quiet);
    screen.resize(30, 10);
    expect(screen.answers).toEqual([]);
  });

  it('about the cursor are remembered for five seconds', () => {
    let now = 1_000;
    const screen = new OpenScreen({ now: () => now });
    expect(screen.cursorQueried).toBe(false);
    screen.feed('\x1b[6n');
    now += 4_999;
    expect(screen.cursorQueried).toBe(true);
    now += 1;
    expect(screen.cursorQueried).toBe(false);
    screen.feed('\x1b[?6n');
    expect(screen.cursorQueried).toBe(true);
  });
});

describe('a screen', () => {
  it('tells of a title once per change', () => {
    let changes = 0;
    const screen = new OpenScreen({ changed: () => changes++ });
    expect(screen.title).toBeNull();
    screen.feed('\x1b]2;a\x07\x1b]0;a\x07\x1b]2;b\x07\x1b[22t\x1b]2;c\x07\x1b[23t');
    expect([screen.title, changes]).toEqual(['b', 4]);
  });

  it('reads its text with history', () => {
    const screen = new OpenScreen({ rows: 2, scrollbackLines: 3 }).feed('one\r\ntwo  \r\nthree\x1b[?25l');
    expect(screen.readText(0)).toEqual({
      lines: ['two', 'three'],
      size: { columns: 20, rows: 2 },
      cursor: { column: 5, row: 1, visible: false },
      title: null,
      alternateScreen: false,
      truncated: true,
    });
    expect(screen.readText(9)).toMatchObject({ lines: ['one', 'two', 'three'], truncated: false });
    screen.feed('\r\n4\r\n5\r\n6');
    expect(screen.readText(9)).toMatchObject({ lines: ['two', 'three', '4', '5', '6'], truncated: true });
  });

  it('is not stopped by a count, and survives erasing from the last cell', () => {
    const started = performance.now();
    const screen = new OpenScreen({ scrollbackLines: 5_000 });
    for (const final of 'STLMIZb@PXABCDEFGd') screen.feed(`x\x1b[2147483647${final}`);
    expect(performance.now() - started).toBeLessThan(1_000);
    screen.feed('\x1b[?1049h\x1b[99;99Hx\x1b[1Jy');
    expect(screen.readText(0).lines.join('')).toBe('y');
  });

  it('survives any bytes and sizes', () => {
    const bytes = fc.uint8Array({ maxLength: 200 });
    const mixed = fc.oneof(
      bytes,
      fragment.map((one) => Buffer.from(one)),
      fc
        .string({ unit: fc.constantFrom(...Array.from('\x1b[?;0129$ "\'hlmrJKHMPX@')) })
        .map((one) => Buffer.from(one)),
    );
    const size = fc.tuple(fc.integer({ min: 2, max: 40 }), fc.integer({ min: 1, max: 12 }));
    fc.assert(
      fc.property(fc.array(fc.tuple(mixed, fc.option(size)), { maxLength: 30 }), (steps) => {
        const screen = new OpenScreen();
        for (const [piece, resized] of steps) {
          screen.write(piece);
          if (resized !== null) screen.resize(...resized);
        }
        screen.readText(10);
        screen.snapshot({ scrollbackLines: 10 });
      }),
      { numRuns: Number(process.env.RUNS ?? 400) },
    );
  });

  it('keeps its links without slowing down, and forgets the oldest', () => {
    const screen = new OpenScreen();
    for (let i = 0; i < 6_000; i++) screen.feed(`\x1b[H\x1b]8;;https://e.example/${i}\x07x\x1b]8;;\x07`);
    expect(screen.drawn()).toContain('https://e.example/5999');
  });
});
