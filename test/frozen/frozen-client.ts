/**
 * A client as it was when protocol 2 was new, with everything that it relies on written out here. It is never adapted to a newer
 * node: whatever it can no longer do, no client in the field can. It imports nothing of this repository.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import WebSocket from 'ws';

export interface FrozenSession {
  readonly id: string;
  readonly workspaceId: string;
  readonly generation: number;
  readonly name: string;
  readonly provider: string;
  readonly transport: string;
  readonly status: string;
  readonly exitCode: number | null;
}

export interface FrozenEvent {
  readonly sequence: number;
  readonly incarnation: string;
  readonly at: string;
  readonly body: { readonly kind: string; readonly session?: FrozenSession };
}

export interface FrozenOptions {
  readonly socketPath: string;
  readonly token: string;
  readonly protocol: { readonly min: number; readonly max: number };
  readonly capabilities: readonly string[];
  /** Fields beyond those of protocol 2, in the hello and in the frame of each request. */
  readonly extraHello?: Readonly<Record<string, unknown>>;
  readonly extraRequest?: Readonly<Record<string, unknown>>;
}

interface Frame {
  readonly kind: string;
  readonly id?: number;
  readonly selection?: string;
  readonly proof?: string;
  readonly result?: unknown;
  readonly failure?: { readonly code: string };
  readonly event?: FrozenEvent;
  readonly sequence?: number;
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class FrozenClient implements Disposable {
  readonly events: FrozenEvent[] = [];
  selection = { protocol: 0, capabilities: [] as string[] };
  readySequence = -1;
  readonly #socket: WebSocket;
  readonly #options: FrozenOptions;
  readonly #waiting = new Map<number, Waiting>();
  #hello = Buffer.alloc(0);
  #nextId = 1;

  private constructor(options: FrozenOptions) {
    this.#options = options;
    this.#socket = new WebSocket(`ws+unix:${options.socketPath}:/`, { perMessageDeflate: false });
  }

  static async connect(options: FrozenOptions): Promise<FrozenClient> {
    const client = new FrozenClient(options);
    await client.#shakeHands();
    return client;
  }

  /** Rejects with an error whose message is the code of the failure. */
  request<Result>(operation: string, params: unknown, lease?: 'brief'): Promise<Result> {
    const id = this.#nextId++;
    const request = { kind: 'request', id, operation, params, lease, ...this.#options.extraRequest };
    this.#socket.send(JSON.stringify(request));
    return new Promise<unknown>((resolve, reject) =>
      this.#waiting.set(id, { resolve, reject }),
    ) as Promise<Result>;
  }

  [Symbol.dispose](): void {
    this.#socket.terminate();
  }

  #shakeHands(): Promise<void> {
    const { protocol, capabilities, extraHello } = this.#options;
    return new Promise((resolve, reject) => {
      this.#socket.on('open', () => {
        const nonce = randomBytes(32).toString('hex');
        const client = { name: 'frozen', version: '0.1.0' };
        const hello = {
          kind: 'hello',
          role: 'operator',
          nonce,
          protocol,
          capabilities,
          client,
          ...extraHello,
        };
        this.#hello = Buffer.from(JSON.stringify(hello));
        this.#socket.send(this.#hello, { binary: false });
      });
      this.#socket.on('error', reject);
      this.#socket.on('close', () => {
        reject(new Error('closed'));
        for (const waiting of this.#waiting.values()) waiting.reject(new Error('closed'));
      });
      this.#socket.on('message', (data: Buffer) => {
        const frame = JSON.parse(data.toString()) as Frame;
        switch (frame.kind) {
          case 'challenge':
            this.#answerChallenge(frame.selection ?? '', frame.proof ?? '');
            return;
          case 'ready':
            this.readySequence = frame.sequence ?? -1;
            resolve();
            return;
          case 'refused':
            reject(new Error(frame.failure?.code));
            return;
          case 'response':
            this.#waiting.get(frame.id ?? -1)?.resolve(frame.result);
            return;
          case 'failure':
            this.#waiting.get(frame.id ?? -1)?.reject(new Error(frame.failure?.code));
            return;
          case 'event':
            if (frame.event !== undefined) this.events.push(frame.event);
        }
      });
    });
  }

  #answerChallenge(text: string, given: string): void {
    const selection = Buffer.from(text);
    const expected = Buffer.from(this.#proof(1, selection), 'hex');
    const actual = Buffer.from(given, 'hex');
    if (actual.length !== 32 || !timingSafeEqual(actual, expected)) {
      this.#socket.terminate();
      return;
    }
    this.selection = JSON.parse(text) as typeof this.selection;
    this.#socket.send(JSON.stringify({ kind: 'authenticate', proof: this.#proof(2, selection) }));
  }

  #proof(direction: number, selection: Buffer): string {
    const key = Buffer.from(this.#options.token.trim().slice(-64), 'hex');
    const hmac = createHmac('sha256', key).update('roost-node-auth-v1\0').update(Buffer.of(direction));
    for (const part of [this.#hello, selection]) {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(part.length);
      hmac.update(length).update(part);
    }
    return hmac.digest('hex');
  }
}
