/**
 * The client's half of the handshake. Nothing but the hello leaves before the node has proved that it holds the token and
 * its selection was found to be a part of what was offered.
 */
import {
  FailureError,
  HANDSHAKE_FRAME_BYTES_MAX,
  NodeFrame,
  OFFERED_CAPABILITIES,
  PROTOCOL_MAX,
  PROTOCOL_MIN,
  Selection,
  selectionFault,
  type Authenticate,
  type Challenge,
  type Hello,
  type Ready,
  type Role,
} from '@roost/protocol';
import { isProof, makeNonce, makeProof, type Token } from '@roost/protocol/node';
import type WebSocket from 'ws';
import { meansNobodyListens, systemCode } from './open-socket.ts';
import { bytesOf, ONE_SHOT, parseJson } from './read-frame.ts';

export interface Handshake {
  readonly selection: Selection;
  readonly ready: Ready;
}

export interface HandshakeOptions {
  /** Where the node is, for failures. */
  readonly place: Readonly<Record<string, string>>;
  readonly client: Hello['client'];
  readonly role: Role;
  /** Asked for once the node listens: a node that starts makes its token before that. */
  readonly token: () => Token;
  /** What is offered; everything that this build knows, otherwise. */
  readonly offer?: Pick<Hello, 'protocol' | 'capabilities'>;
  readonly timeoutMs: number;
}

/**
 * Resolves in the same turn in which `ready` came, so that no frame after it is missed. On a failure the socket is gone.
 * Fails with `node-not-running`, `node-unresponsive`, `connection-lost`, `unauthorized`, `unsupported-protocol`,
 * `home-unusable`, or with what the node refuses with.
 */
export function shakeHands(webSocket: WebSocket, options: HandshakeOptions): Promise<Handshake> {
  const { place, timeoutMs } = options;
  return new Promise((resolve, reject) => {
    let exchange: Exchange | undefined;
    const stop = (): void => {
      clearTimeout(timer);
      webSocket.off('message', onMessage);
      webSocket.off('close', onClose);
      // 'error' stays: terminating a socket that is still connecting emits one more.
    };
    const fail = (error: unknown): void => {
      stop();
      webSocket.terminate();
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    const timer = setTimeout(() => fail(new FailureError('node-unresponsive', place)), timeoutMs);
    const onMessage = (data: WebSocket.RawData): void => {
      try {
        const ready = exchange?.next(data);
        if (ready === undefined) return;
        stop();
        resolve(ready);
      } catch (error) {
        fail(error);
      }
    };
    const onClose = (): void => fail(new FailureError('connection-lost', place));
    webSocket.on('error', (error) => fail(connectFailure(error, place)));
    webSocket.on('unexpected-response', (_, response) => fail(httpFailure(response.statusCode, place)));
    webSocket.on('message', onMessage);
    webSocket.on('close', onClose);
    const begin = (): void => {
      try {
        exchange = new Exchange(webSocket, options);
      } catch (error) {
        fail(error);
      }
    };
    if (webSocket.readyState === webSocket.OPEN) begin();
    else webSocket.once('open', begin);
  });
}

const OFFER: Pick<Hello, 'protocol' | 'capabilities'> = {
  protocol: { min: PROTOCOL_MIN, max: PROTOCOL_MAX },
  capabilities: [...OFFERED_CAPABILITIES],
};

/** What was sent and what is awaited, from hello to ready. */
class Exchange {
  readonly #webSocket: WebSocket;
  readonly #role: Role;
  readonly #token: Token;
  readonly #hello: Hello;
  readonly #helloBytes: Buffer;
  #selection: Selection | undefined;

  constructor(webSocket: WebSocket, { client, role, token, offer = OFFER }: HandshakeOptions) {
    this.#webSocket = webSocket;
    this.#role = role;
    this.#token = token();
    this.#hello = {
      kind: 'hello',
      role,
      nonce: makeNonce(),
      ...offer,
      client,
    };
    this.#helloBytes = Buffer.from(JSON.stringify(this.#hello));
    webSocket.send(this.#helloBytes, { binary: false });
  }

  next(data: WebSocket.RawData): Handshake | undefined {
    const bytes = bytesOf(data);
    const value = bytes.length > HANDSHAKE_FRAME_BYTES_MAX ? undefined : parseJson(bytes);
    const frame = NodeFrame.safeParse(value, ONE_SHOT).data;
    switch (frame?.kind) {
      case 'refused':
        throw FailureError.from(frame.failure);
      case 'challenge':
        if (this.#selection !== undefined) throw strange('a second challenge');
        this.#selection = this.#answer(frame);
        return undefined;
      case 'ready':
        if (this.#selection === undefined) throw strange('ready before its proof');
        return { selection: this.#selection, ready: frame };
      default:
        throw strange('another frame than the handshake has');
    }
  }

  #answer({ selection: text, proof }: Challenge): Selection {
    const selectionBytes = Buffer.from(text);
    const input = {
      token: this.#token,
      role: this.#role,
      hello: this.#helloBytes,
      selection: selectionBytes,
    };
    if (!isProof(proof, { ...input, direction: 'node' })) {
      throw new FailureError('unauthorized', { reason: 'the node does not hold this token' });
    }
    const selection = Selection.safeParse(parseJson(selectionBytes), ONE_SHOT).data;
    if (selection === undefined) throw strange('a selection that cannot be read');
    const fault = selectionFault(this.#hello, selection);
    if (fault !== null) throw strange(fault);
    const answer: Authenticate = {
      kind: 'authenticate',
      proof: makeProof({ ...input, direction: 'client' }),
    };
    this.#webSocket.send(JSON.stringify(answer));
    return selection;
  }
}

function strange(reason: string): FailureError {
  return new FailureError('unsupported-protocol', { reason });
}

function connectFailure(error: unknown, place: Readonly<Record<string, string>>): FailureError {
  if (meansNobodyListens(error)) return new FailureError('node-not-running', place, { cause: error });
  const code = systemCode(error);
  if (code === 'EACCES' || code === 'EPERM') {
    return new FailureError('home-unusable', { ...place, reason: code }, { cause: error });
  }
  return new FailureError('connection-lost', place, { cause: error });
}

/** Something else that listens there, or a node that takes us for a web page, answers the upgrade with a status. */
function httpFailure(status: number | undefined, place: Readonly<Record<string, string>>): FailureError {
  return new FailureError('unsupported-protocol', { ...place, status: status ?? 0 });
}
