// Which terminals one client has open on its line, and which it drives: noted from what passes by.
import { TERMINAL_CHANNEL_HEADER_BYTES, type Params, type SessionId, type Watcher } from '@roost/protocol';
import { RoleReader } from './role-reader.ts';

export interface OpenTerminal {
  readonly sessionId: SessionId;
  readonly mode: Watcher['mode'];
  readonly drives: boolean;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

interface Noted {
  terminal: OpenTerminal;
  readonly roles: RoleReader;
}

export class OpenTerminals {
  readonly #open = new Map<number, Noted>();
  readonly #now: () => number;
  readonly #changed: (sessionId: SessionId) => void;

  constructor(now: () => number, changed: (sessionId: SessionId) => void) {
    this.#now = now;
    this.#changed = changed;
  }

  get all(): readonly OpenTerminal[] {
    return [...this.#open.values()].map(({ terminal }) => terminal);
  }

  opened(channel: number, { sessionId, mode }: Params<'terminal.open'>): void {
    const terminal = { sessionId, mode, drives: false, since: this.#now() };
    this.#open.set(channel, { terminal, roles: new RoleReader() });
    this.#changed(sessionId);
  }

  closed(channel: number): void {
    const noted = this.#open.get(channel);
    if (noted === undefined) return;
    this.#open.delete(channel);
    this.#changed(noted.terminal.sessionId);
  }

  /** A binary message of the client: one without bytes ends its channel. */
  sawFromClient(message: Buffer): void {
    if (message.length === TERMINAL_CHANNEL_HEADER_BYTES) this.closed(message.readUInt32BE(0));
  }

  /** One of the node: it may also tell the client's role. */
  sawFromNode(message: Buffer): void {
    if (message.length < TERMINAL_CHANNEL_HEADER_BYTES) return;
    const channel = message.readUInt32BE(0);
    if (message.length === TERMINAL_CHANNEL_HEADER_BYTES) {
      this.closed(channel);
      return;
    }
    const noted = this.#open.get(channel);
    const role = noted?.roles.read(message.subarray(TERMINAL_CHANNEL_HEADER_BYTES)) ?? null;
    if (noted === undefined || role === null || noted.terminal.drives === (role === 'driver')) return;
    noted.terminal = { ...noted.terminal, drives: role === 'driver' };
    this.#changed(noted.terminal.sessionId);
  }

  closeAll(): void {
    for (const channel of [...this.#open.keys()]) this.closed(channel);
  }
}
