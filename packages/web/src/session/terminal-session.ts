/** One terminal of one page: attached through a line to its node, and again after every loss, until the session has ended. */
import type { TerminalAttachment } from '@roost/client/browser';
import {
  FailureError,
  type DriveAnswer,
  type DriveAsk,
  type FailureCode,
  type NodeId,
  type RoleChange,
  type SessionId,
} from '@roost/protocol';
import type { NodeLines } from '../hub/node-lines.ts';
import { isOver, sleep } from '../hub/waiting.ts';

export type TerminalState =
  | { readonly kind: 'connecting' }
  | Attached
  /** It was lost, or could not be had, and is tried again. */
  | { readonly kind: 'waiting'; readonly error: FailureError }
  /** Trying again does not help. */
  | { readonly kind: 'refused'; readonly error: FailureError }
  | { readonly kind: 'ended'; readonly exitCode: number | null; readonly exitSignal: string | null };

export interface Attached {
  readonly kind: 'attached';
  readonly role: 'driver' | 'watcher';
  /** Of a watcher, that which the driver has given it. */
  readonly size: TerminalSize;
  /** Of a driver: who asks to drive. */
  readonly asks: readonly DriveAsk[];
  /** Of a watcher: what became of its own asking. */
  readonly asked: 'no' | 'waiting' | 'kept';
}

/** How a watcher becomes the driver: in the next moment, or when whoever drives hands over. */
export type Wish = 'take-over' | 'ask';

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
  /** What is done as soon as it is attached and another one drives. */
  readonly wish?: Wish | null;
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
  #state: Attached | null = null;
  #wish: Wish | null;

  constructor(options: TerminalSessionOptions) {
    this.#options = options;
    this.#wish = options.wish ?? null;
  }

  get #isDriver(): boolean {
    return this.#state?.role === 'driver';
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

  /** To become the one whose keystrokes and size count. */
  drive(wish: Wish): void {
    const { columns, rows } = this.#options.screen.size();
    if (wish === 'ask') {
      // That which counts once it is handed over.
      this.#attachment?.resize(columns, rows);
      this.#attachment?.askToDrive();
      this.#tell({ asked: 'waiting' });
      return;
    }
    this.#attachment?.takeOver();
    this.#attachment?.resize(columns, rows);
  }

  answerAsk(answer: DriveAnswer): void {
    this.#attachment?.answerAsk(answer);
  }

  #tell(changed: Partial<Omit<Attached, 'kind'>>): void {
    if (this.#state === null) return;
    this.#state = { ...this.#state, ...changed };
    this.#options.onState(this.#state);
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
      this.#state = null;
      line.release();
    }
  }

  #show(
    attachment: TerminalAttachment,
    signal: AbortSignal,
  ): Promise<'lost' | Extract<TerminalState, { kind: 'ended' }>> {
    const { screen } = this.#options;
    return new Promise((resolve) => {
      let end: Extract<TerminalState, { kind: 'ended' }> | null = null;
      const onAbort = (): void => attachment.close();
      const show = (bytes: Uint8Array): void => {
        const count = bytes.length;
        screen.write(bytes, () => attachment.acknowledge(count));
      };
      const tellRole = ({ role, columns, rows }: RoleChange): void => {
        const { asked = 'no' } = this.#state ?? {};
        const size = { columns, rows };
        this.#state = { kind: 'attached', role, size, asks: [], asked: role === 'driver' ? 'no' : asked };
        this.#tell({});
      };
      this.#attachment = attachment;
      tellRole(attachment.accepted);
      signal.addEventListener('abort', onAbort, { once: true });
      attachment.start({
        screen: show,
        output: show,
        role: tellRole,
        asks: (asks) => this.#tell({ asks }),
        kept: () => this.#tell({ asked: 'kept' }),
        ended: ({ exitCode, exitSignal }) => {
          end = { kind: 'ended', exitCode, exitSignal };
        },
        closed: () => {
          signal.removeEventListener('abort', onAbort);
          resolve(end ?? 'lost');
        },
      });
      if (isOver(signal)) attachment.close();
      if (this.#wish !== null && !this.#isDriver) this.drive(this.#wish);
      this.#wish = null;
    });
  }
}
