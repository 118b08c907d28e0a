/** The last words of a connection: a peer that neither reads them nor closes does not keep it. */
import type { Socket } from 'node:net';

/** Milliseconds for the peer to take what is still owed, or some of it, and to close. */
export const CLOSING_MS = 5_000;

export function endSoon(socket: Socket, lastWords?: Uint8Array): void {
  if (lastWords !== undefined) socket.write(lastWords);
  socket.end();
  let owed = socket.writableLength;
  const timer = setInterval(() => {
    // A slow link that still takes some gets more time.
    if (socket.writableLength < owed) owed = socket.writableLength;
    else socket.destroy();
  }, CLOSING_MS);
  timer.unref();
  socket.once('close', () => {
    clearInterval(timer);
  });
}
