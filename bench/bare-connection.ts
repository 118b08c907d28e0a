/** An authenticated connection whose frames are not looked at: measures the node without what a client makes of its answers. */
import { createConnection } from 'node:net';
import WebSocket from 'ws';
import { readToken } from '../packages/client/src/node-token.ts';
import { shakeHands } from '../packages/client/src/shake-hands.ts';

export interface NodeTarget {
  readonly socketPath: string;
  readonly tokenPath: string;
}

export interface BareConnection {
  readonly webSocket: WebSocket;
  /** The last event when it was made. */
  readonly sequence: number;
}

export async function openBare({ socketPath, tokenPath }: NodeTarget): Promise<BareConnection> {
  const webSocket = new WebSocket('ws://localhost/', {
    perMessageDeflate: false,
    createConnection: () => createConnection(socketPath),
  });
  const { ready } = await shakeHands(webSocket, {
    place: { socket: socketPath },
    client: { name: 'roost-bench', version: '0' },
    role: 'observer',
    token: () => readToken({ path: tokenPath }, 'observer'),
    timeoutMs: 10_000,
  });
  return { webSocket, sequence: ready.sequence };
}

export interface Reply {
  readonly milliseconds: number;
  readonly text: Buffer;
}

/** Sends one request on a connection on which nothing else is under way. */
export function askBare(webSocket: WebSocket, operation: string, params: object): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const lost = () => reject(new Error(`the connection was lost while ${operation} was asked`));
    const start = performance.now();
    webSocket.once('close', lost);
    webSocket.once('message', (text: Buffer) => {
      const milliseconds = performance.now() - start;
      webSocket.off('close', lost);
      resolve({ milliseconds, text });
    });
    webSocket.send(JSON.stringify({ kind: 'request', id: 1, operation, params }));
  });
}
