/** A notification on the desktop, by way of the terminal: one of two control sequences, whichever that terminal is known to take. */

/** They take `OSC 9 ; TEXT`; the others are given `OSC 777 ; notify ; TITLE ; TEXT`, which VTE, foot and urxvt take. */
const TAKES_OSC_9: readonly string[] = ['iTerm.app', 'WezTerm', 'ghostty', 'WarpTerminal', 'rio'];

/** `title` and `text` must be printable. */
export function desktopNotification(
  title: string,
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const takesShort =
    TAKES_OSC_9.includes(env.TERM_PROGRAM ?? '') ||
    env.TERM === 'xterm-kitty' ||
    env.WT_SESSION !== undefined;
  // A semicolon would end the field.
  const clean = (part: string) => part.replaceAll(';', ',');
  const body = takesShort ? `9;${title}: ${text}` : `777;notify;${clean(title)};${clean(text)}`;
  const sequence = `\x1b]${body}\x07`;
  // It lets sequences through to its own terminal only in this wrapping.
  return env.TMUX === undefined ? sequence : `\x1bPtmux;${sequence.replaceAll('\x1b', '\x1b\x1b')}\x1b\\`;
}
