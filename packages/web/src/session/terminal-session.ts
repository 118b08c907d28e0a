/** One terminal of one page: attached through a line to its node, and again after every loss, until the session has ended. */
import type { TerminalAttachment } from '@roost/client/browser';
import { FailureError, type FailureCode, type NodeId, type SessionId } from '@roost/protocol';
import type { NodeLines } from '../hub/node-lines.ts';
import { isOver, sleep } from '../hub/waiting.ts';

export type TerminalState =
  | { readonly kind: 'connecting' }
  /** Of a watcher, the size is that which the driver has given it. */
  | { readonly kind: 'attached'; readonly role: 'driver' | 'watcher'; readonly size: TerminalSize }
  /** It was lost, or could not be had, and is tried again. */
  | { readonly kind: 'waiting'; readonly error: FailureError }
  /** Trying again does not help. */
  | { readonly kind: 'refused'; readonly error: FailureError }
  | { readonly kind: 'ended'; readonly exitCode: number | null; readonly exitSignal: string | null };

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** What the bytes are shown on. */
export interface TerminalScreen {
  /** That which fits into its place now. */
  size(): TerminalSize;
  /** Calls back when they are shown. */
  write(bytes: Uint8Array, onShown: () => void): void;
}

export interface TerminalSessionOptions {
  readonly lines: Pick<NodeLines, 'use'>;
  readonly nodeId: NodeId;
  readonly sessionId: SessionId;
  readonly mode: 'drive' | 'watch';
  readonly screen: TerminalScreen;
  readonly onState: (state: TerminalState) => void;
}

/** Milliseconds between attempts; doubles up to the second. */
const RETRY_MS = { first: 250, last: 4_000 } as const;

/** What waiting does not heal. */
const FINAL: ReadonlySet<FailureCode> = new Set([
  'unknown-session',
  'session-not-running',
  'unsupported-transport',
  'unsupported-capability',
  'unsupported-protocol',
  'observer-read-only',
  'unauthenticated',
  'forbidden',
  'out-of-scope',
  'unknown-node',
]);

export class TerminalSession {
  readonly #options: TerminalSessionOptions;
  #attachment: TerminalAttachment | null = null;
  #isDriver = false;

  constructor(options: TerminalSessionOptions) {
    this.#options = options;
  }

  /** Until the signal aborts, the session has ended, or it is refused. */
  async run(signal: AbortSignal): Promise<void> {
    const { onState } = this.#options;
    let pause: number = RETRY_MS.first;
    while (!signal.aborted) {
      onState({ kind: 'connecting' });
      const outcome = await this.#attachOnce(signal).catch((error: unknown) =>
        error instanceof FailureError
          ? error
          : new FailureError('internal-error', undefined, { cause: error }),
      );
      if (isOver(signal)) return;
      if (outcome === 'lost') {
        pause = RETRY_MS.first;
        onState({ kind: 'waiting', error: new FailureError('connection-lost') });
      } else if (outcome instanceof FailureError) {
        if (FINAL.has(outcome.failure.code)) {
          onState({ kind: 'refused', error: outcome });
          return;
        }
        onState({ kind: 'waiting', error: outcome });
      } else {
        onState(outcome);
        return;
      }
      await sleep(pause, signal);
      pause = Math.min(pause * 2, RETRY_MS.last);
    }
  }

  /** Keystrokes; those of a watcher go nowhere. */
  type(bytes: Uint8Array): void {
    if (this.#isDriver) this.#attachment?.write(bytes);
  }

  resize({ columns, rows }: TerminalSize): void {
    if (this.#isDriver) this.#attachment?.resize(columns, rows);
  }

  /** Become the one whose keystrokes and size count. */
  takeOver(): void {
    const { columns, rows } = this.#options.screen.size();
    this.#attachment?.takeOver();
    this.#attachment?.resize(columns, rows);
  }

  async #attachOnce(signal: AbortSignal): Promise<'lost' | Extract<TerminalState, { kind: 'ended' }>> {
    const { lines, nodeId, sessionId, mode, screen } = this.#options;
    const line = await lines.use(nodeId);
    try {
      signal.throwIfAborted();
      const attachment = await line.connection.openTerminal({ sessionId, mode, ...screen.size() });
      return await this.#show(attachment, signal);
    } finally {
      this.#attachment = null;
      this.#isDriver = false;
      line.release();
    }
  }

  #show(
    attachment: TerminalAttachment,
    signal: AbortSignal,
  ): Promise<'lost' | Extract<TerminalState, { kind: 'ended' }>> {
    const { screen, onState } = this.#options;
    return new Promise((resolve) => {
      let end: Extract<TerminalState, { kind: 'ended' }> | null = null;
      const onAbort = (): void => attachment.close();
      const show = (bytes: Uint8Array): void => {
        const count = bytes.length;
        screen.write(bytes, () => attachment.acknowledge(count));
      };
      const tellRole = ({ role, columns, rows }: { role: 'driver' | 'watcher' } & TerminalSize): void => {
        this.#isDriver = role === 'driver';
        onState({ kind: 'attached', role, size: { columns, rows } });
      };
      this.#attachment = attachment;
      tellRole(attachment.accepted);
      signal.addEventListener('abort', onAbort, { once: true });
      attachment.start({
        screen: show,
        output: show,
        role: tellRole,
        ended: ({ exitCode, exitSignal }) => {
          end = { kind: 'ended', exitCode, exitSignal };
        },
        closed: () => {
          signal.removeEventListener('abort', onAbort);
          resolve(end ?? 'lost');
        },
      });
      if (isOver(signal)) attachment.close();
    });
  }
}
