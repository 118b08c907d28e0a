/**
 * Where a stream of terminal output may be cut: outside escape sequences and outside characters. A screen drawn in the
 * middle of a sequence would be followed by the sequence's tail as text.
 *
 * Looks only at what follows the last ESC that can start a sequence, and at the last few bytes: text before it cannot
 * matter. The 8-bit forms of CSI and the like are not looked for, as in UTF-8 they are two bytes that programs do not use.
 */
const ESC = 0x1b;
const BEL = 0x07;
const CAN = 0x18;
const SUB = 0x1a;
/** The end of a longer string (OSC, DCS, ...) is not waited for: it would hold back everything behind it. */
const HELD_BYTES_MAX = 64 * 1024;

/**
 * Length of the longest prefix that ends at a boundary, given that `bytes` starts at one. The whole length when that would
 * hold back more than 64 KiB.
 */
export function splitAtSequenceBoundary(bytes: Uint8Array): number {
  let end = bytes.length;
  // An ESC ends the string that it stands in, so what is unfinished may have begun at an earlier ESC.
  for (;;) {
    end -= unfinishedCharacter(bytes.subarray(0, end));
    const start = end === 0 ? -1 : bytes.lastIndexOf(ESC, end - 1);
    if (start === -1 || !isUnfinished(bytes.subarray(0, end), start)) return end;
    end = start;
    if (bytes.length - end > HELD_BYTES_MAX) return bytes.length;
  }
}

function isUnfinished(bytes: Uint8Array, start: number): boolean {
  let at = start + 1;
  const introducer = bytes[at];
  if (introducer === undefined) return true;
  if (isString(introducer)) return !endsString(bytes, at + 1, introducer);
  if (introducer === 0x5b) {
    for (at++; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0;
      if (byte === CAN || byte === SUB || (byte >= 0x40 && byte !== 0x7f)) return false;
    }
    return true;
  }
  // SS2 and SS3 take one more character.
  if (introducer === 0x4e || introducer === 0x4f) return at + 1 >= bytes.length;
  for (; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === CAN || byte === SUB || (byte >= 0x30 && byte !== 0x7f)) return false;
  }
  return true;
}

/** ESC P (DCS), X (SOS), ] (OSC), ^ (PM), _ (APC) */
function isString(introducer: number | undefined): boolean {
  switch (introducer) {
    case 0x50:
    case 0x58:
    case 0x5d:
    case 0x5e:
    case 0x5f:
      return true;
    default:
      return false;
  }
}

function endsString(bytes: Uint8Array, from: number, introducer: number): boolean {
  const endsAt = (byte: number): boolean => bytes.includes(byte, from);
  return endsAt(CAN) || endsAt(SUB) || (introducer === 0x5d && endsAt(BEL));
}

/** Bytes of a UTF-8 character at the end that lacks bytes. */
function unfinishedCharacter(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return byte >= 0xc2 && byte <= 0xf4 && length > back ? back : 0;
  }
  return 0;
}
