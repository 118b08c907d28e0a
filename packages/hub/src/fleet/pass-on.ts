// A message from one WebSocket to another. Whoever reads too slowly holds back the one that sends; nothing piles up in between.
import type { WebSocket } from 'ws';

/** Bytes that may wait for a reader. */
const WINDOW_BYTES = 512 * 1024;

export function passOn(from: WebSocket, to: WebSocket, message: string | Buffer, isBinary: boolean): void {
  if (to.readyState !== to.OPEN) return;
  to.send(message, { binary: isBinary }, () => {
    if (from.isPaused && to.bufferedAmount <= WINDOW_BYTES) from.resume();
  });
  if (to.bufferedAmount > WINDOW_BYTES && !from.isPaused) from.pause();
}
