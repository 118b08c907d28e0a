import { describe, expect, it } from 'vitest';
import { frameOf } from './frame.ts';
import { OpenScreen } from './screen-state.testing.ts';

/** Bytes of a message that carries it. */
const bytesOf = (screen: OpenScreen) => Buffer.byteLength(JSON.stringify(frameOf(screen)));

describe('a frame', () => {
  it('draws on any terminal of its size the screen that its lines tell, without history', () => {
    const screen = new OpenScreen().feed(
      'gone\r\n'.repeat(30) + '\x1b[2J\x1b[31mred\x1b[2;7H漢字\x1b[4;5Hx\x1b[?25l',
    );
    const onto = new OpenScreen().feed('\x1b[?1049h\x1b[2;4r\x1b[?6h\x1b[7;41mjunk');
    const { drawing, lines, cursor, size } = frameOf(screen);
    onto.feed(drawing);
    expect(onto.state(0)).toEqual(screen.state(0));
    expect(lines).toEqual(screen.readText(0).lines);
    expect([cursor, size]).toEqual([
      { column: 5, row: 3, visible: false },
      { columns: 20, rows: 6 },
    ]);
  });

  it('is of a bounded size when one cell holds millions of characters', () => {
    const screen = new OpenScreen().feed('first\r\n\x1b[?25la' + '\u0301'.repeat(1_500_000) + '\r\nlast');
    expect(bytesOf(screen)).toBeLessThan(100_000);
    const onto = new OpenScreen().feed(frameOf(screen).drawing);
    expect(onto.readText(0).lines).toEqual(['first', '', 'last', '', '', '']);
    expect(onto.readText(0).cursor).toEqual(screen.readText(0).cursor);
  });

  it('is of a bounded size when every cell of a huge screen has a color of its own', () => {
    const screen = new OpenScreen({ columns: 1_000, rows: 300 });
    let text = '';
    for (let cell = 0; cell < 300_000; cell += 1) {
      text += `\x1b[38;2;${cell % 256};${(cell >> 8) % 256};7m${cell % 10}`;
    }
    screen.feed(text);
    expect(bytesOf(screen)).toBeLessThan(8 * 1024 * 1024);
  });
});
