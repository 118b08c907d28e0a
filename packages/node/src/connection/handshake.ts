// The node's half of the handshake, over bytes: what came is judged as it came, before anything else is made of it.
import {
  Authenticate,
  failure,
  HANDSHAKE_FRAME_BYTES_MAX,
  Hello,
  negotiate,
  PROTOCOL_MAX,
  PROTOCOL_MIN,
  type Challenge,
  type Failure,
  type Negotiated,
  type Selection,
} from '@roost/protocol';
import { isProof, makeNonce, makeProof, type ProofInput, type Token } from '@roost/protocol/node';
import type { RefusalReason } from './refusals.ts';

interface Refused {
  readonly kind: 'refused';
  readonly reason: RefusalReason;
  readonly failure: Failure;
}

export type HandshakeStep =
  | { readonly kind: 'challenge'; readonly frame: Challenge }
  | { readonly kind: 'proved'; readonly hello: Hello; readonly negotiated: Negotiated }
  | Refused;

interface Pending {
  readonly hello: Hello;
  readonly negotiated: Negotiated;
  readonly proof: Omit<ProofInput, 'direction'>;
}

export class NodeHandshake {
  readonly #token: Token;
  readonly #node: Selection['node'];
  #pending: Pending | null = null;

  constructor(token: Token, node: Selection['node']) {
    this.#token = token;
    this.#node = node;
  }

  /** One frame of the client. After `proved` or `refused` it is over. */
  next(bytes: Buffer): HandshakeStep {
    if (bytes.length > HANDSHAKE_FRAME_BYTES_MAX) {
      return refused('frame-too-large', failure('invalid-request', { bytesMax: HANDSHAKE_FRAME_BYTES_MAX }));
    }
    let value: unknown;
    try {
      value = JSON.parse(bytes.toString());
    } catch {
      return malformed();
    }
    return this.#pending === null ? this.#greet(value, bytes) : this.#judge(value, this.#pending);
  }

  #greet(value: unknown, bytes: Buffer): HandshakeStep {
    const hello = Hello.safeParse(value).data;
    if (hello === undefined) return malformed();
    const negotiated = negotiate(hello);
    if (negotiated === null) {
      const bounds = { min: PROTOCOL_MIN, max: PROTOCOL_MAX };
      return refused('protocol-mismatch', failure('unsupported-protocol', bounds));
    }
    const selection: Selection = {
      protocol: negotiated.protocol,
      capabilities: [...negotiated.capabilities],
      nonce: makeNonce(),
      node: this.#node,
    };
    const text = JSON.stringify(selection);
    const proof = { token: this.#token, role: hello.role, hello: bytes, selection: Buffer.from(text) };
    this.#pending = { hello, negotiated, proof };
    const frame: Challenge = {
      kind: 'challenge',
      selection: text,
      proof: makeProof({ ...proof, direction: 'node' }),
    };
    return { kind: 'challenge', frame };
  }

  #judge(value: unknown, { hello, negotiated, proof }: Pending): HandshakeStep {
    const authenticate = Authenticate.safeParse(value).data;
    if (authenticate === undefined) return malformed();
    if (!isProof(authenticate.proof, { ...proof, direction: 'client' })) {
      return refused('unauthorized', failure('unauthorized', { role: hello.role }));
    }
    return { kind: 'proved', hello, negotiated };
  }
}

function malformed(): Refused {
  return refused('handshake-malformed', failure('invalid-request'));
}

function refused(reason: RefusalReason, because: Failure): Refused {
  return { kind: 'refused', reason, failure: because };
}
