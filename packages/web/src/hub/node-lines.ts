/** Lines to nodes, one for each node that something on the page works with; closed when nothing has for a while. */
import {
  connectThroughHub,
  type OpenWebSocket,
  type RelayConnection,
  type RelayOptions,
} from '@roost/client/browser';
import type { NodeId } from '@roost/protocol';

/** Milliseconds for which an unused line stays: going from one session to the next needs no new one. */
const IDLE_MS = 20_000;

interface Line {
  readonly connection: Promise<RelayConnection>;
  users: number;
  idle: ReturnType<typeof setTimeout> | undefined;
}

export interface UsedLine {
  readonly connection: RelayConnection;
  /** Once it is used no more. */
  release(): void;
}

export interface NodeLinesOptions {
  readonly openWebSocket: OpenWebSocket;
  readonly baseUrl: string;
  /** Another way to connect, for tests. */
  readonly connect?: (options: RelayOptions) => Promise<RelayConnection>;
}

export class NodeLines {
  readonly #options: NodeLinesOptions;
  readonly #lines = new Map<NodeId, Line>();

  constructor(options: NodeLinesOptions) {
    this.#options = options;
  }

  /** @throws FailureError: as `connectThroughHub`. */
  async use(nodeId: NodeId): Promise<UsedLine> {
    const line = this.#lines.get(nodeId) ?? this.#open(nodeId);
    clearTimeout(line.idle);
    line.users++;
    const release = once(() => {
      line.users--;
      if (line.users === 0) line.idle = setTimeout(() => this.#close(nodeId, line), IDLE_MS);
    });
    try {
      return { connection: await line.connection, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  #open(nodeId: NodeId): Line {
    const { openWebSocket, baseUrl, connect = connectThroughHub } = this.#options;
    const line: Line = {
      connection: connect({ openWebSocket, baseUrl, nodeId, client: { name: 'web', version: '' } }),
      users: 0,
      idle: undefined,
    };
    const forget = (): void => {
      if (this.#lines.get(nodeId) === line) this.#lines.delete(nodeId);
    };
    // One that could not be made is tried anew by whoever comes next.
    line.connection.then((connection) => connection.onClose(forget), forget);
    this.#lines.set(nodeId, line);
    return line;
  }

  #close(nodeId: NodeId, line: Line): void {
    if (this.#lines.get(nodeId) === line) this.#lines.delete(nodeId);
    line.connection.then(
      (connection) => connection.close(),
      // Whoever used it was told.
      () => undefined,
    );
  }
}

function once(call: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    call();
  };
}
