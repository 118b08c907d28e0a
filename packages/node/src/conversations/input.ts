// The lines that a conversation has written and the program may not have got, in order. Only lines that are stored are added. A
// connection that is lost in the middle of one leaves open whether it was taken: the keeper's count of bytes tells at the next one.
import { FailureError, type SessionId } from '@roost/protocol';
import type { ChildState } from '@roost/keeper/wire';
import type { KeeperLink } from '../keepers/keeper-link.ts';
import type { Log } from '@roost/storage';

interface InputOptions {
  readonly sessionId: SessionId;
  /** null: out of reach now. */
  readonly link: () => KeeperLink | null;
  /** The program will never get what waits, nor anything that follows. */
  readonly broken: () => void;
  readonly log: Log;
}

interface Waiting {
  readonly line: string;
  readonly sent: () => void;
  readonly failed: (error: FailureError) => void;
}

export class Input {
  readonly #options: InputOptions;
  readonly #waiting: Waiting[] = [];
  /** Bytes in front of what waits. */
  #end: number;
  #sending = false;
  #isClosed = false;

  constructor(options: InputOptions, end: number, lines: readonly string[]) {
    this.#options = options;
    this.#end = end;
    for (const line of lines) this.#waiting.push({ line, sent: () => undefined, failed: () => undefined });
  }

  get end(): number {
    return this.#end;
  }

  get lines(): readonly string[] {
    return this.#waiting.map(({ line }) => line);
  }

  /** Resolves when the keeper has taken all of them. @throws FailureError: keeper-unavailable: they are sent later. Others: never. */
  async add(lines: readonly string[]): Promise<void> {
    const sent = lines.map(
      (line) =>
        new Promise<void>((resolve, reject) => this.#waiting.push({ line, sent: resolve, failed: reject })),
    );
    void this.#send();
    await Promise.all(sent);
  }

  /** What waits is sent by the next node. */
  close(): void {
    this.#isClosed = true;
  }

  /** What the keeper knows of it is known now. */
  connected({ inputEnd }: ChildState): void {
    // A keeper of before that does not count: twice would be worse than not at all.
    const taken = (inputEnd ?? Number.POSITIVE_INFINITY) - this.#end;
    let passed = 0;
    while (this.#waiting[0] !== undefined && passed + bytesOf(this.#waiting[0].line) <= taken) {
      passed += bytesOf(this.#waiting[0].line);
      this.#waiting.shift()?.sent();
    }
    this.#end = inputEnd ?? this.#end + passed;
    void this.#send();
  }

  async #send(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    try {
      for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
        const { sessionId, link } = this.#options;
        const keeper = link();
        if (keeper?.isConnected !== true || this.#isClosed)
          throw new FailureError('keeper-unavailable', { sessionId });
        await keeper.call(
          'input',
          { sessionId, text: `${next.line}\n`, framing: 'raw', submit: false },
          null,
        );
        if (this.#waiting[0] !== next) continue;
        this.#end += bytesOf(next.line);
        this.#waiting.shift();
        next.sent();
      }
    } catch (error) {
      this.#refused(error);
    } finally {
      this.#sending = false;
    }
  }

  #refused(error: unknown): void {
    const { sessionId, broken, log } = this.#options;
    const failure =
      error instanceof FailureError ? error : new FailureError('internal-error', {}, { cause: error });
    const isLater = this.#isClosed || failure.failure.code === 'keeper-unavailable';
    for (const { failed } of this.#waiting) failed(failure);
    if (isLater) return;
    log.warn({ sessionId, err: error }, 'an agent takes no input');
    this.#waiting.length = 0;
    broken();
  }
}

/** With the end of the line. */
const bytesOf = (line: string): number => Buffer.byteLength(line) + 1;
