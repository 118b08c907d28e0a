// Events over a WebSocket, each a JSON text.
import type { WebSocket } from 'ws';
import type { HubEventMessage } from '@roost/protocol';
import type { FeedSink } from './event-feed.ts';

/** Bytes at which a client counts as having read: a ping may wait behind the last event. */
const DRAINED_BYTES = 16 * 1024;

/** `drained` is called when almost everything that was sent is with the kernel. */
export function socketSink(webSocket: WebSocket, drained: () => void): FeedSink {
  return {
    send: (message, text) =>
      webSocket.send(textOf(message, text), () => {
        if (webSocket.bufferedAmount < DRAINED_BYTES) drained();
      }),
    get bufferedBytes() {
      return webSocket.bufferedAmount;
    },
  };
}

function textOf(message: HubEventMessage, text: string): string {
  if (message.kind !== 'event') return JSON.stringify(message);
  return `{"kind":"event","cursor":"${message.cursor}","event":${text}}`;
}
