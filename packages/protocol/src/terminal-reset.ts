/**
 * Brings a terminal in any state (mid-sequence, alternate screen, mouse on, raw keyboard modes) to a known one without
 * touching what the user sees or scrolled away: no RIS, no clearing, the cursor stays. A client writes it when it
 * detaches; every picture of a screen begins with it, so that both mean the same state. The title is left alone, and so
 * is alternate scroll (1007), whose default differs between terminals. No imports.
 */
export const TERMINAL_RESET: string = [
  // CAN ends an unfinished sequence, ST an unfinished string on terminals that ignore CAN there.
  '\x18\x1b\\',
  // A frozen display first: nothing below would be seen otherwise.
  '\x1b[?2026l',
  // Both screens keep keyboard flags of their own: clear them on the one we are on, leave, clear again.
  '\x1b[<99u\x1b[=0u',
  '\x1b[?1049l',
  '\x1b[<99u\x1b[=0u',
  '\x1b[!p',
  // UTF-8, ASCII in all four sets, shifted in.
  '\x1b%G\x1b(B\x1b)B\x1b*B\x1b+B\x0f',
  '\x1b]8;;\x1b\\',
  '\x1b[m\x1b[0"q',
  // Margins and origin mode send the cursor home: keep it.
  '\x1b7\x1b[?69l\x1b[?6l\x1b[r\x1b8',
  '\x1b[4l\x1b[20l\x1b>',
  '\x1b[?1l\x1b[?5l\x1b[?7h\x1b[?45l',
  '\x1b[?9l\x1b[?1000l\x1b[?1001l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l',
  '\x1b[?1004l\x1b[?2004l\x1b[?2031l\x1b[?2048l',
  '\x1b[>4m',
  '\x1b[?5W',
  '\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\',
  // The shape's default includes whether it blinks, so it comes after 12.
  '\x1b[?12l\x1b[0 q\x1b[?25h',
  // Terminals that do not know `>4m` read it as an underline.
  '\x1b[m',
].join('');
