// Events over a WebSocket, each a JSON text.
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { HubEventMessage } from '@roost/protocol';
import type { FeedSink } from './event-feed.ts';

/** Bytes at which a client counts as having read: a ping may wait behind the last event. */
const DRAINED_BYTES = 16 * 1024;

/** `drained` is called when almost everything that was sent is with the kernel. */
export function socketSink(
  { webSocket, socket }: { readonly webSocket: WebSocket; readonly socket: Duplex },
  drained: () => void,
): FeedSink {
  let isCorked = false;
  /** What comes in one turn leaves in one piece: writing costs most of what many events to many clients cost. */
  const corkForThisTurn = (): void => {
    if (isCorked) return;
    isCorked = true;
    socket.cork();
    setImmediate(() => {
      isCorked = false;
      socket.uncork();
    });
  };
  return {
    send: (message, text) => {
      corkForThisTurn();
      webSocket.send(textOf(message, text), () => {
        if (webSocket.bufferedAmount < DRAINED_BYTES) drained();
      });
    },
    get bufferedBytes() {
      return webSocket.bufferedAmount;
    },
  };
}

function textOf(message: HubEventMessage, text: string): string {
  if (message.kind !== 'event') return JSON.stringify(message);
  return `{"kind":"event","cursor":"${message.cursor}","event":${text}}`;
}
