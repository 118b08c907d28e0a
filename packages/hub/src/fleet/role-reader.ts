// What a node tells one client of its role on a terminal, read from bytes that only pass by: of everything else the lengths alone are looked
// at, and nothing is kept.
import { FRAME_HEADER_BYTES, TerminalFrameKind } from '@roost/protocol/terminal-frames';
import * as z from 'zod';

/** Bytes of a frame that may tell a role; both kinds take about a hundred. */
const TELLING_BYTES_MAX = 1_024;

const Telling = z.object({ role: z.enum(['driver', 'watcher']) });
type Role = z.infer<typeof Telling>['role'];

export class RoleReader {
  readonly #header = Buffer.alloc(FRAME_HEADER_BYTES);
  #headerBytes = 0;
  /** Bytes of the frame that are still to come. */
  #left = 0;
  /** Those of a frame that may tell a role; null for every other. */
  #kept: Buffer[] | null = null;
  #isLost = false;

  /** The newest role that was told with these bytes; null: none. They may begin and end anywhere in a frame. */
  read(bytes: Buffer): Role | null {
    let told: Role | null = null;
    let at = 0;
    while (at < bytes.length && !this.#isLost) {
      if (this.#left === 0) {
        at += this.#readHeader(bytes.subarray(at));
        continue;
      }
      const part = bytes.subarray(at, at + this.#left);
      at += part.length;
      this.#left -= part.length;
      // A view would keep the whole message.
      this.#kept?.push(Buffer.from(part));
      if (this.#left === 0) told = this.#endFrame() ?? told;
    }
    return told;
  }

  /** How many of the bytes were of the header. */
  #readHeader(bytes: Buffer): number {
    const count = bytes.copy(this.#header, this.#headerBytes, 0, FRAME_HEADER_BYTES - this.#headerBytes);
    this.#headerBytes += count;
    if (this.#headerBytes < FRAME_HEADER_BYTES) return count;
    this.#headerBytes = 0;
    const length = this.#header.readUInt32BE(0);
    // No frame is that short: where the next one begins is not known any more.
    this.#isLost = length < 1;
    this.#left = Math.max(0, length - 1);
    const kind = this.#header[FRAME_HEADER_BYTES - 1];
    const mayTell = kind === TerminalFrameKind.attached || kind === TerminalFrameKind.role;
    this.#kept = mayTell && this.#left <= TELLING_BYTES_MAX ? [] : null;
    return count;
  }

  #endFrame(): Role | null {
    if (this.#kept === null) return null;
    const text = Buffer.concat(this.#kept).toString();
    this.#kept = null;
    return Telling.safeParse(parseJson(text)).data?.role ?? null;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Told by a node that is another build, or no node at all: no role is known of it.
    return null;
  }
}
