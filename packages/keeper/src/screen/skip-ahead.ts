/**
 * How much of a big block of plain text need not be parsed, because what follows it pushes every trace of it out of the
 * screen and its history. Exact: with and without the skipped part the screen ends in the same state. Ask
 * `Screen.scrollsFreely` first.
 */
const ESC = 0x1b;
const LF = 0x0a;
const CR = 0x0d;
const DEL = 0x7f;
/** A look at the block pays only when much can be skipped. */
const BLOCK_BYTES_MIN = 256 * 1024;

/**
 * Length of the prefix of `bytes` that may be skipped. 0 unless the block is big and only text, CR, LF and TAB in whole
 * characters. The rest begins with CR LF, so that it starts in the first column, and has enough lines to push out the rows
 * below the cursor as well, which its first lines are written over.
 */
export function skippablePrefix(bytes: Uint8Array, kept: { rows: number; scrollbackLines: number }): number {
  if (bytes.length < BLOCK_BYTES_MIN) return 0;
  let cut = bytes.length;
  for (let lines = kept.scrollbackLines + 2 * kept.rows + 1; lines > 0; lines--) {
    cut = bytes.lastIndexOf(LF, cut - 1);
    if (cut <= 0) return 0;
  }
  while (bytes[cut - 1] !== CR) {
    cut = bytes.lastIndexOf(LF, cut - 1);
    if (cut <= 0) return 0;
  }
  // What is skipped must be plain, or it could have changed more than lines; what is not skipped must be, or it could
  // look back (move up, insert lines).
  return isPlain(bytes) ? cut - 1 : 0;
}

function isPlain(bytes: Uint8Array): boolean {
  if (bytes.includes(ESC)) return false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x20) {
      if (byte !== LF && byte !== CR && byte !== 0x09) return false;
    } else if (byte >= DEL) {
      // C1 controls are two bytes in UTF-8: C2 80 to C2 9F.
      if (byte === DEL || (byte === 0xc2 && (bytes[at + 1] ?? 0) < 0xa0)) return false;
    }
  }
  return true;
}
