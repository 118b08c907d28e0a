// Moves the output of pipe sessions from keepers to disk: follow from what lies there, store, acknowledge. When the disk refuses,
// the keeper keeps the bytes (and pauses the program at its cap) until storing works again.
import { join } from 'node:path';
import { FailureError, type Params, type Result } from '@roost/protocol';
import type { ChildState, PipeStream } from '@roost/keeper/wire';
import type { KeeperLink } from '../keepers/keeper-link.ts';
import type { Log } from '@roost/storage';
import { SegmentLog } from './segment-log.ts';

const STREAMS = ['stdout', 'stderr'] as const satisfies readonly PipeStream[];
/** Milliseconds until storing is tried again after the disk refused. */
const RETRY_MS = 1_000;
/** For waits that only bytes or time end. */
const NO_SIGNAL = new AbortController().signal;

interface Streams {
  readonly logs: Readonly<Record<PipeStream, SegmentLog>>;
  /** Streams whose acknowledgement is due. */
  readonly due: Set<PipeStream>;
  /** The disk refused: what comes is ignored until it is asked for anew. */
  stalled: boolean;
}

export class PipeOutput {
  readonly #sessionsDirectory: string;
  readonly #log: Log;
  readonly #open = new Map<string, Streams>();
  #closed = false;

  constructor(sessionsDirectory: string, log: Log) {
    this.#sessionsDirectory = sessionsDirectory;
    this.#log = log;
  }

  /** Asks the keeper for everything after what lies on disk. */
  async follow(link: KeeperLink, sessionId: string): Promise<void> {
    const streams = this.#streams(sessionId);
    const { stdout, stderr } = streams.logs;
    streams.stalled = false;
    const kept = link.children.get(sessionId)?.output;
    for (const stream of STREAMS) {
      const log = streams.logs[stream];
      const floor = kept?.[stream].floor ?? 0;
      if (floor <= log.end) continue;
      // The keeper let go of what it was told is on disk, and the disk has lost it.
      this.#log.error({ sessionId, stream, from: log.end, to: floor }, 'output is missing');
      log.restartAt(floor);
    }
    await link.call('followOutput', { sessionId, offsets: { stdout: stdout.end, stderr: stderr.end } });
    // What was stored before a crash but never acknowledged.
    for (const stream of STREAMS) this.#acknowledgeSoon(link, sessionId, stream);
  }

  receive(link: KeeperLink, sessionId: string, stream: PipeStream, offset: number, bytes: Uint8Array): void {
    const streams = this.#streams(sessionId);
    if (streams.stalled || this.#closed) return;
    const log = streams.logs[stream];
    // Pushed before the keeper heard where to go on: it comes again, from the end of what is stored.
    if (offset > log.end) return;
    try {
      log.append(offset, bytes);
    } catch (error) {
      this.#stall(link, sessionId, streams, error);
    }
    this.#acknowledgeSoon(link, sessionId, stream);
  }

  /** Resolves when the whole output of an ended child is stored; rejects when its keeper is lost before. */
  async drain(link: KeeperLink, child: ChildState): Promise<void> {
    if (child.output === null) return;
    for (const stream of STREAMS) {
      const { end } = child.output[stream];
      const log = this.#streams(child.sessionId).logs[stream];
      while (log.end < end) {
        if (!link.isConnected || this.#closed) throw link.unavailable();
        await log.waitForMore(RETRY_MS, NO_SIGNAL);
      }
    }
  }

  /** Offsets of what is kept. */
  range(sessionId: string, stream: PipeStream): { floor: number; end: number } {
    const { floor, end } = this.#logFor(sessionId, stream);
    return { floor, end };
  }

  async read(
    { sessionId, stream, offset, maxBytes, waitMs }: Params<'session.readOutput'>,
    hasEnded: () => boolean,
    signal: AbortSignal,
  ): Promise<Result<'session.readOutput'>> {
    const { bytes, ...page } = await this.readBytes(
      { sessionId, stream, offset, maxBytes, waitMs },
      hasEnded,
      signal,
    );
    return { ...page, base64: bytes.toString('base64') };
  }

  /** The same, as they are. */
  async readBytes(
    { sessionId, stream, offset, maxBytes, waitMs }: Params<'session.readOutput'>,
    hasEnded: () => boolean,
    signal: AbortSignal,
  ): Promise<Omit<Result<'session.readOutput'>, 'base64'> & { readonly bytes: Buffer }> {
    // Of a session that runs, the one that will be written to, be its keeper within reach or not: it tells when bytes come.
    const logNow = () =>
      hasEnded() || this.#closed ? this.#logFor(sessionId, stream) : this.#streams(sessionId).logs[stream];
    let log = logNow();
    const from = offset >= 0 ? offset : Math.max(log.floor, log.end + offset);
    const deadline = performance.now() + waitMs;
    while (log.end <= from && !hasEnded() && !signal.aborted && performance.now() < deadline) {
      await log.waitForMore(deadline - performance.now(), signal);
      log = logNow();
    }
    if (from < log.floor) throw new FailureError('output-gone', { floor: log.floor });
    const bytes = log.read(from, maxBytes);
    const nextOffset = from + bytes.length;
    return {
      offset: from,
      bytes,
      nextOffset,
      floor: log.floor,
      ended: hasEnded() && nextOffset >= log.end,
    };
  }

  /** The session has ended and all is stored: waiting readers learn it, descriptors go back. */
  finish(sessionId: string): void {
    const streams = this.#open.get(sessionId);
    if (streams === undefined) return;
    this.#open.delete(sessionId);
    for (const stream of STREAMS) {
      streams.logs[stream].close();
      streams.logs[stream].wake();
    }
  }

  close(): void {
    this.#closed = true;
    for (const sessionId of [...this.#open.keys()]) this.finish(sessionId);
  }

  /** For reading; that of an ended session is not kept open. */
  #logFor(sessionId: string, stream: PipeStream): SegmentLog {
    const open = this.#open.get(sessionId);
    return open?.logs[stream] ?? new SegmentLog(join(this.#sessionsDirectory, sessionId), stream);
  }

  #streams(sessionId: string): Streams {
    let streams = this.#open.get(sessionId);
    if (streams === undefined) {
      const directory = join(this.#sessionsDirectory, sessionId);
      const logs = {
        stdout: new SegmentLog(directory, 'stdout'),
        stderr: new SegmentLog(directory, 'stderr'),
      };
      streams = { logs, due: new Set(), stalled: false };
      this.#open.set(sessionId, streams);
    }
    return streams;
  }

  /** Once for all that one turn of the event loop stored. */
  #acknowledgeSoon(link: KeeperLink, sessionId: string, stream: PipeStream): void {
    const { due, logs } = this.#streams(sessionId);
    if (due.has(stream)) return;
    due.add(stream);
    setImmediate(() => {
      due.delete(stream);
      if (!link.isConnected || logs[stream].end === 0) return;
      link.call('acknowledge', { sessionId, stream, offset: logs[stream].end }).catch((error: unknown) => {
        this.#log.debug({ sessionId, err: error }, 'output could not be acknowledged');
      });
    });
  }

  #stall(link: KeeperLink, sessionId: string, streams: Streams, error: unknown): void {
    this.#log.error({ sessionId, err: error }, 'output cannot be stored; trying again');
    streams.stalled = true;
    setTimeout(() => {
      if (this.#closed || !link.isConnected || !link.children.has(sessionId)) return;
      this.follow(link, sessionId).catch((cause: unknown) => {
        this.#log.warn({ sessionId, err: cause }, 'output cannot be followed');
      });
    }, RETRY_MS).unref();
  }
}
