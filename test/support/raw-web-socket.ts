/** A WebSocket client that obeys nothing: it sends whatever bytes it is given, and reads only when told to. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { PROTOCOL_MAX, PROTOCOL_MIN } from '@roost/protocol';
import { makeProof, parseToken } from '@roost/protocol/node';

export const HANDSHAKE =
  'GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

export const HELLO = JSON.stringify({
  kind: 'hello',
  role: 'operator',
  nonce: '5a'.repeat(32),
  protocol: { min: PROTOCOL_MIN, max: PROTOCOL_MAX },
  capabilities: ['event-journal-v1', 'provider-id.open-v1'],
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

/** Has proved the token that lies beside the socket. Reads nothing afterwards. */
export async function openReady(path: string): Promise<Socket> {
  const socket = await openRaw(path);
  socket.write(HANDSHAKE);
  socket.write(webSocketFrame(HELLO));
  let seen = '';
  for await (const [chunk] of on(socket)) {
    seen += chunk.toString('latin1');
    const challenge = /\{"kind":"challenge".*?"proof":"[0-9a-f]{64}"\}/.exec(seen)?.[0];
    if (challenge !== undefined) {
      seen = '';
      socket.write(webSocketFrame(authenticate(challenge, path)));
    }
    if (seen.includes('"kind":"ready"')) break;
  }
  socket.pause();
  return socket;
}

function authenticate(challenge: string, path: string): string {
  const token = parseToken(readFileSync(join(dirname(path), 'node.token'), 'utf8'));
  if (token === null) throw new Error('no token');
  const { selection } = JSON.parse(challenge) as { selection: string };
  const proof = makeProof({
    token,
    role: 'operator',
    direction: 'client',
    hello: Buffer.from(HELLO),
    selection: Buffer.from(selection),
  });
  return JSON.stringify({ kind: 'authenticate', proof });
}

async function* on(socket: Socket): AsyncGenerator<[Buffer]> {
  for (;;) yield (await once(socket, 'data')) as [Buffer];
}
