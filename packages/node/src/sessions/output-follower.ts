// One reader's place in the output of a pipe session. It holds one chunk at most: the next one is read when that was taken, so the
// reader's speed is the speed of reading.
import { FailureError, WAIT_MS_MAX, type SessionAddress } from '@roost/protocol';
import type { OutputChunk, OutputSource } from '../control/handlers.ts';
import type { Store } from '../store/store.ts';
import type { PipeOutput } from './pipe-output.ts';
import { findSession, isLive } from './session-table.ts';

const CHUNK_BYTES = 64 * 1024;

interface OutputFollowerOptions {
  readonly store: Store;
  readonly output: PipeOutput;
  readonly session: SessionAddress;
  readonly stream: 'stdout' | 'stderr';
  /** Absolute offset. */
  readonly from: number;
}

export class OutputFollower implements OutputSource {
  readonly #options: OutputFollowerOptions;
  readonly #abort = new AbortController();
  #offset: number;
  #next: OutputChunk | null = null;
  #fault: Error | null = null;
  #ready: () => void = () => undefined;

  constructor(options: OutputFollowerOptions) {
    this.#options = options;
    this.#offset = options.from;
    this.#readNext();
  }

  /** Throws when the output cannot be read. */
  take(): OutputChunk | null {
    if (this.#fault !== null) throw this.#fault;
    const chunk = this.#next;
    this.#next = null;
    if (chunk !== null && !chunk.ended) this.#readNext();
    return chunk;
  }

  onReady(listener: () => void): void {
    this.#ready = listener;
    if (this.#next !== null) listener();
  }

  close(): void {
    this.#abort.abort();
  }

  #readNext(): void {
    this.#read().catch((error: unknown) => {
      this.#fault = error instanceof Error ? error : new Error(String(error));
      this.#ready();
    });
  }

  async #read(): Promise<void> {
    const { store, output, session, stream } = this.#options;
    const { sessionId } = session;
    const hasEnded = () => {
      const row = findSession(store.sql, sessionId);
      return row === null || !isLive(row);
    };
    const { signal } = this.#abort;
    const isClosed = () => signal.aborted;
    while (!isClosed()) {
      const { floor } = output.range(sessionId, stream);
      // What fell out of the log meanwhile cannot be given any more; its place tells that it is missing.
      const offset = Math.max(this.#offset, floor);
      const request = { sessionId, stream, offset, maxBytes: CHUNK_BYTES, waitMs: WAIT_MS_MAX };
      const page = await output.readBytes(request, hasEnded, signal).catch((error: unknown) => {
        if (error instanceof FailureError) return null;
        throw error;
      });
      if (isClosed()) return;
      if (page === null || (page.nextOffset === page.offset && !page.ended)) continue;
      this.#offset = page.nextOffset;
      this.#next = {
        session,
        stream,
        offset: page.offset,
        bytes: page.bytes,
        nextOffset: page.nextOffset,
        ended: page.ended,
      };
      this.#ready();
      return;
    }
  }
}
