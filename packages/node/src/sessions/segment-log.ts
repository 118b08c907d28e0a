// A stream of bytes of a session, by absolute byte offset: the output of its program, its timeline. Append-only segment files,
// each named by the offset of its first byte. The end of the stream is what lies on disk, so after a crash we ask for exactly the bytes that follow: none
// twice, none missing. Only the newest segments are kept; below the floor, bytes are gone.
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/** Bytes of one segment, and segments kept: 64 MiB a stream. */
const SEGMENT_BYTES = 8 * 1024 * 1024;
const SEGMENTS_KEPT = 8;

interface Segment {
  readonly start: number;
  readonly path: string;
}

export class SegmentLog {
  readonly #directory: string;
  readonly #stream: string;
  readonly #segmentBytes: number;
  readonly #segmentsKept: number;
  readonly #waiters = new Set<() => void>();
  #segments: Segment[];
  #end: number;
  #writing: number | null = null;

  /** Reads what is there; nothing is made before the first byte. */
  constructor(
    directory: string,
    stream: string,
    bounds: { segmentBytes: number; segmentsKept: number } = {
      segmentBytes: SEGMENT_BYTES,
      segmentsKept: SEGMENTS_KEPT,
    },
  ) {
    this.#directory = directory;
    this.#stream = stream;
    this.#segmentBytes = bounds.segmentBytes;
    this.#segmentsKept = bounds.segmentsKept;
    this.#segments = findSegments(directory, stream);
    const last = this.#segments.at(-1);
    this.#end = last === undefined ? 0 : last.start + statSync(last.path).size;
  }

  /** Oldest offset kept. */
  get floor(): number {
    return this.#segments[0]?.start ?? this.#end;
  }

  /** Offset after the last byte on disk. */
  get end(): number {
    return this.#end;
  }

  /**
   * Stores bytes that begin at an absolute offset, at or before the end. What is stored already is skipped. Throws the
   * system's error; then the log holds a prefix of the bytes.
   */
  append(offset: number, bytes: Uint8Array): void {
    if (offset > this.#end) throw new RangeError(`bytes at ${offset} do not follow ${this.#end}`);
    let rest = bytes.subarray(Math.min(bytes.length, this.#end - offset));
    try {
      while (rest.length > 0) rest = rest.subarray(this.#write(rest));
    } finally {
      this.wake();
    }
  }

  /** Up to `maxBytes` from an offset within the kept range. */
  read(offset: number, maxBytes: number): Buffer {
    const wanted = Math.max(0, Math.min(maxBytes, this.#end - offset));
    const bytes = Buffer.alloc(wanted);
    let filled = 0;
    while (filled < wanted) {
      const at = offset + filled;
      const segment = this.#segments.findLast((one) => one.start <= at);
      if (segment === undefined) break;
      const count = readAt(segment.path, at - segment.start, bytes.subarray(filled));
      if (count === 0) break;
      filled += count;
    }
    return bytes.subarray(0, filled);
  }

  /** Resolves when bytes came, `wake` was called, the time is over or the signal aborts; never rejects. */
  async waitForMore(waitMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || waitMs <= 0) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.#waiters.delete(done);
        resolve();
      };
      const timer = setTimeout(done, waitMs);
      signal.addEventListener('abort', done);
      this.#waiters.add(done);
    });
  }

  wake(): void {
    for (const waiter of [...this.#waiters]) waiter();
  }

  /** Gives the descriptor back; the log stays usable. */
  close(): void {
    if (this.#writing !== null) closeSync(this.#writing);
    this.#writing = null;
  }

  /** Begins anew at an offset, when the bytes before it are not to be had any more. What is stored is given up. */
  restartAt(offset: number): void {
    this.close();
    for (const segment of this.#segments) rmSync(segment.path, { force: true });
    this.#segments = [];
    this.#end = offset;
  }

  /** Gives up what lies behind an offset that is kept. Throws the system's error. */
  cutAt(offset: number): void {
    this.close();
    for (const segment of this.#segments.filter(({ start }) => start >= offset)) rmSync(segment.path);
    this.#segments = this.#segments.filter(({ start }) => start < offset);
    const last = this.#segments.at(-1);
    if (last !== undefined) truncateSync(last.path, offset - last.start);
    this.#end = offset;
  }

  #write(bytes: Uint8Array): number {
    let segment = this.#segments.at(-1);
    if (segment === undefined || this.#end - segment.start >= this.#segmentBytes)
      segment = this.#startSegment();
    this.#writing ??= openSync(segment.path, 'a', 0o600);
    const room = this.#segmentBytes - (this.#end - segment.start);
    const written = writeSync(this.#writing, bytes, 0, Math.min(bytes.length, room));
    this.#end += written;
    return written;
  }

  #startSegment(): Segment {
    this.close();
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    const segment = { start: this.#end, path: join(this.#directory, `${this.#stream}-${this.#end}.seg`) };
    this.#writing = openSync(segment.path, 'a', 0o600);
    // A leftover of that name cannot exist: the end is computed from what lies there.
    if (fstatSync(this.#writing).size !== 0) throw new Error(`segment ${segment.path} is not empty`);
    this.#segments.push(segment);
    while (this.#segments.length > this.#segmentsKept) {
      const oldest = this.#segments.shift();
      if (oldest !== undefined) rmSync(oldest.path, { force: true });
    }
    return segment;
  }
}

function findSegments(directory: string, stream: string): Segment[] {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    return [];
  }
  const pattern = new RegExp(`^${stream}-(\\d{1,15})\\.seg$`);
  const segments = names
    .flatMap((name) => {
      const match = pattern.exec(name);
      return match === null ? [] : [{ start: Number(match[1]), path: join(directory, name) }];
    })
    .sort((a, b) => a.start - b.start);
  return lastContiguous(segments);
}

/** A crash between the removals of a restart may leave older segments that do not touch the newer ones: those do not count. */
function lastContiguous(segments: readonly Segment[]): Segment[] {
  let first = segments.length - 1;
  for (; first > 0; first -= 1) {
    const [before, after] = [segments[first - 1], segments[first]];
    if (before === undefined || after === undefined) break;
    if (before.start + statSync(before.path).size !== after.start) break;
  }
  return segments.slice(Math.max(0, first));
}

function readAt(path: string, position: number, target: Buffer): number {
  const descriptor = openSync(path, 'r');
  try {
    return readSync(descriptor, target, 0, target.length, position);
  } finally {
    closeSync(descriptor);
  }
}
