// Which terminals one client has open on its line: noted from what passes by.
import { TERMINAL_CHANNEL_HEADER_BYTES, type Params, type SessionId, type Watcher } from '@roost/protocol';

export interface OpenTerminal {
  readonly sessionId: SessionId;
  readonly mode: Watcher['mode'];
  /** Milliseconds since the epoch. */
  readonly since: number;
}

export class OpenTerminals {
  readonly #open = new Map<number, OpenTerminal>();
  readonly #now: () => number;
  readonly #changed: (sessionId: SessionId) => void;

  constructor(now: () => number, changed: (sessionId: SessionId) => void) {
    this.#now = now;
    this.#changed = changed;
  }

  get all(): readonly OpenTerminal[] {
    return [...this.#open.values()];
  }

  opened(channel: number, { sessionId, mode }: Params<'terminal.open'>): void {
    this.#open.set(channel, { sessionId, mode, since: this.#now() });
    this.#changed(sessionId);
  }

  closed(channel: number): void {
    const terminal = this.#open.get(channel);
    if (terminal === undefined) return;
    this.#open.delete(channel);
    this.#changed(terminal.sessionId);
  }

  /** A binary message, either way: one without bytes ends its channel. */
  saw(message: Buffer): void {
    if (message.length === TERMINAL_CHANNEL_HEADER_BYTES) this.closed(message.readUInt32BE(0));
  }

  closeAll(): void {
    for (const channel of [...this.#open.keys()]) this.closed(channel);
  }
}
