/** An authenticated connection whose frames are not looked at: measures the node without what a client makes of its answers. */
import { createConnection, type Socket } from 'node:net';
import WebSocket from 'ws';
import { readToken } from '../packages/client/src/node-token.ts';
import { shakeHands } from '../packages/client/src/shake-hands.ts';

/** A WebSocket frame that is a whole message of text; marks of longer lengths. */
const FINAL_TEXT = 0x81;
const LENGTH_16 = 126;
const LENGTH_64 = 127;

export interface NodeTarget {
  readonly socketPath: string;
  readonly tokenPath: string;
}

export interface BareConnection {
  readonly webSocket: WebSocket;
  /** What it reads from. */
  readonly socket: Socket;
  /** The last event when it was made. */
  readonly sequence: number;
}

export async function openBare({ socketPath, tokenPath }: NodeTarget): Promise<BareConnection> {
  const socket = createConnection(socketPath);
  const webSocket = new WebSocket('ws://localhost/', {
    perMessageDeflate: false,
    createConnection: () => socket,
  });
  const { ready } = await shakeHands(webSocket, {
    place: { socket: socketPath },
    client: { name: 'roost-bench', version: '0' },
    role: 'observer',
    token: () => readToken({ path: tokenPath }, 'observer'),
    timeoutMs: 10_000,
  });
  return { webSocket, socket, sequence: ready.sequence };
}

export interface Reply {
  readonly milliseconds: number;
  /** Of its text. */
  readonly bytes: number;
}

/**
 * Sends one request on a connection on which nothing else is under way. The answer is counted as it comes from the socket and
 * kept nowhere: with half a megabyte an answer, a client that keeps them would mostly measure its own garbage collector.
 */
export async function askBare(
  { webSocket, socket }: BareConnection,
  operation: string,
  params: object,
): Promise<Reply> {
  const usual = socket.listeners('data') as ((chunk: Buffer) => void)[];
  socket.removeAllListeners('data');
  const start = performance.now();
  webSocket.send(JSON.stringify({ kind: 'request', id: 1, operation, params }));
  try {
    const bytes = await frameCounted(socket);
    return { milliseconds: performance.now() - start, bytes };
  } finally {
    socket.removeAllListeners('data');
    for (const listener of usual) socket.on('data', listener);
  }
}

/** Waits for one whole text frame; answers the bytes of its text. */
function frameCounted(socket: Socket): Promise<number> {
  return new Promise((resolve, reject) => {
    const lost = () => reject(new Error('the connection was lost'));
    let length: number | null = null;
    let left = 0;
    socket.once('close', lost);
    socket.on('data', (chunk: Buffer) => {
      if (length === null) {
        const header = readHeader(chunk);
        length = header.length;
        left = header.bytes + length;
      }
      left -= chunk.length;
      if (left > 0) return;
      socket.off('close', lost);
      resolve(length);
    });
  });
}

function readHeader(chunk: Buffer): { bytes: number; length: number } {
  if (chunk[0] !== FINAL_TEXT) throw new Error('something else than an answer came');
  const short = chunk[1] ?? 0;
  if (short === LENGTH_16) return { bytes: 4, length: chunk.readUInt16BE(2) };
  if (short === LENGTH_64) return { bytes: 10, length: Number(chunk.readBigUInt64BE(2)) };
  return { bytes: 2, length: short };
}
