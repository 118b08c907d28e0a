/**
 * Bounds what one control sequence may cost. A keeper parses for many sessions in one thread, and the emulator repeats
 * scrolling, line insertion and tabs as often as the program says, up to 2^31 times: one bad sequence (binary output is
 * enough) would stop every session. Repeating more often than the screen has rows, columns or cells changes nothing.
 */
import type { Terminal } from '@xterm/headless';
import type { EmulatorInternals, SequenceId } from './emulator-internals.ts';

export function limitSequences(terminal: Terminal, internals: EmulatorInternals): void {
  const limit = (id: SequenceId, most: () => number) =>
    internals.onControlSequence(id, ({ params }) => {
      const count = params[0];
      if (count !== undefined && count > most()) params[0] = most();
      return false;
    });
  // SU, SD, IL, DL
  for (const final of ['S', 'T', 'L', 'M']) limit({ final }, () => terminal.rows);
  // CHT, CBT
  for (const final of ['I', 'Z']) limit({ final }, () => terminal.cols);
  // REP: builds the repeated text first.
  limit({ final: 'b' }, () => terminal.rows * terminal.cols);

  // ED 1 in the last cell of the last line looks at the line below it, which does not exist, and throws. It erases all.
  internals.onControlSequence({ final: 'J' }, ({ params }) => {
    if (params[0] !== 1) return false;
    const { cursorX, cursorY } = terminal.buffer.active;
    if (cursorY !== terminal.rows - 1 || cursorX < terminal.cols - 1) return false;
    internals.eraseWholeDisplay();
    return true;
  });
}
