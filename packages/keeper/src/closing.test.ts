import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { CLOSING_MS, endSoon } from './closing.ts';

let directory: string;
let server: Server;
let peer: Socket;
let socket: Socket;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'roost-closing-'));
  server = createServer().listen(join(directory, 's'));
  await once(server, 'listening');
  peer = createConnection({ path: join(directory, 's'), allowHalfOpen: true });
  [socket] = (await once(server, 'connection')) as [Socket];
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
  peer.destroy();
  socket.destroy();
  server.close();
  rmSync(directory, { recursive: true, force: true });
});

it('says its last words to a peer that never closes, then lets go of it', async () => {
  endSoon(socket, Buffer.from('bye'));
  const [words] = (await once(peer, 'data')) as [Buffer];
  expect(words.toString()).toBe('bye');
  await once(peer, 'end');
  expect(socket.destroyed).toBe(false);
  vi.advanceTimersByTime(CLOSING_MS);
  expect(socket.destroyed).toBe(true);
});

it('lets go of a peer that does not read', () => {
  peer.pause();
  endSoon(socket, Buffer.alloc(4 * 1024 * 1024));
  expect(socket.writableLength).toBeGreaterThan(0);
  vi.advanceTimersByTime(CLOSING_MS);
  expect(socket.destroyed).toBe(true);
});

it('leaves no timer behind when the peer closes', async () => {
  endSoon(socket);
  peer.end();
  peer.resume();
  await once(socket, 'close');
  expect(vi.getTimerCount()).toBe(0);
});
