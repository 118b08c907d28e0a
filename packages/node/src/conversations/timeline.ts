// What an agent said and did, as it is kept: a line of JSON an entry, in segment files beside the session's output. An entry's
// position is the offset of its line. Writing the same entries again at the same place changes nothing that was read.
import { TIMELINE_PAGE_BYTES_MAX, TimelineEntry, type AgentEvent, type Result } from '@roost/protocol';
import { SegmentLog } from '../sessions/segment-log.ts';

/** Bytes of one segment, and segments kept: 64 MiB a session. */
const SEGMENT_BYTES = 8 * 1024 * 1024;
const SEGMENTS_KEPT = 8;
/** Bytes read at least: a whole entry is smaller. */
const READ_BYTES_MIN = 2 * TIMELINE_PAGE_BYTES_MAX;
const NEWLINE = 0x0a;

export type TimelinePage = Pick<Result<'session.readTimeline'>, 'entries' | 'next' | 'floor'>;

export class Timeline {
  readonly #log: SegmentLog;

  constructor(directory: string) {
    this.#log = new SegmentLog(directory, 'timeline', {
      segmentBytes: SEGMENT_BYTES,
      segmentsKept: SEGMENTS_KEPT,
    });
  }

  get end(): number {
    return this.#log.end;
  }

  /** Gives up what lies behind a place: it was written, and never became true. */
  cutAt(end: number): void {
    if (end < this.#log.end) this.#log.cutAt(end);
    else if (end > this.#log.end) this.#log.restartAt(end);
  }

  /** Throws the system's error; then some of it may be stored, and the same can be written again at the same place. */
  append(position: number, lines: string): void {
    this.#log.append(position, Buffer.from(lines));
  }

  /** Whole entries from a position on; what is no entry, such as the rest of one whose beginning is gone, is passed over. */
  read(from: number, maxBytes: number): TimelinePage {
    const { floor, end } = this.#log;
    const start = Math.min(Math.max(floor, from >= 0 ? from : end + from), end);
    const bytes = this.#log.read(start, Math.max(maxBytes, READ_BYTES_MIN));
    const entries: TimelineEntry[] = [];
    let at = 0;
    for (;;) {
      const newline = bytes.indexOf(NEWLINE, at);
      if (newline < 0 || (entries.length > 0 && newline >= maxBytes)) break;
      const entry = parseEntry(start + at, bytes.toString('utf8', at, newline));
      if (entry !== null) entries.push(entry);
      at = newline + 1;
    }
    return { entries, next: start + at, floor };
  }

  /** Resolves when more came, the time is over or the signal aborts. */
  waitForMore(waitMs: number, signal: AbortSignal): Promise<void> {
    return this.#log.waitForMore(waitMs, signal);
  }

  /** Waiting readers look again; the descriptor goes back. */
  close(): void {
    this.#log.close();
    this.#log.wake();
  }
}

/** As it is stored; the position is where it stands. */
export function entryLine(at: number, event: AgentEvent): string {
  return `${JSON.stringify({ at: new Date(at).toISOString(), event })}\n`;
}

function parseEntry(position: number, line: string): TimelineEntry | null {
  try {
    const stored: unknown = JSON.parse(line);
    return TimelineEntry.safeParse({ ...(stored as object), position }).data ?? null;
  } catch {
    return null;
  }
}
