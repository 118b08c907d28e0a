/** A WebSocket client that obeys nothing: it sends whatever bytes it is given, and reads only when told to. */
import { randomBytes } from 'node:crypto';
import { createConnection, type Socket } from 'node:net';
import { once } from 'node:events';

export const HANDSHAKE =
  'GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

export const HELLO = JSON.stringify({
  kind: 'hello',
  protocol: { min: 1, max: 1 },
  capabilities: ['event-journal-v1'],
  client: { name: 'raw', version: '0' },
});

const TEXT = 0x1;

/** One whole masked frame. */
export function webSocketFrame(payload: string | Uint8Array, opcode: number = TEXT): Buffer {
  const body = Buffer.from(payload);
  const mask = randomBytes(4);
  for (let at = 0; at < body.length; at += 1) body[at] = (body[at] ?? 0) ^ (mask[at & 3] ?? 0);
  return Buffer.concat([frameHeader(BigInt(body.length), opcode), mask, body]);
}

/** A header that announces so many bytes, with the mask bit set. */
export function frameHeader(length: bigint, opcode: number = TEXT): Buffer {
  if (length < 126n) return Buffer.from([0x80 | opcode, 0x80 | Number(length)]);
  const header = Buffer.alloc(10);
  header.set([0x80 | opcode, 0xff]);
  header.writeBigUInt64BE(length, 2);
  return header;
}

/** Connected; an error only closes it. */
export async function openRaw(path: string): Promise<Socket> {
  const socket = createConnection(path);
  await once(socket, 'connect');
  socket.on('error', () => socket.destroy());
  return socket;
}

/** Through the handshake and the welcome. Reads nothing afterwards. */
export async function openWelcomed(path: string): Promise<Socket> {
  const socket = await openRaw(path);
  socket.write(HANDSHAKE);
  socket.write(webSocketFrame(HELLO));
  let seen = '';
  for await (const [chunk] of on(socket)) {
    seen += chunk.toString('latin1');
    if (seen.includes('"welcome"')) break;
  }
  socket.pause();
  return socket;
}

async function* on(socket: Socket): AsyncGenerator<[Buffer]> {
  for (;;) yield (await once(socket, 'data')) as [Buffer];
}
