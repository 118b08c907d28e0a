// Events over a WebSocket, each a JSON text.
import type { WebSocket } from 'ws';
import type { HubEventMessage } from '@roost/protocol';
import type { FeedSink } from './event-feed.ts';

/** `drained` is called when everything that was sent is with the kernel. */
export function socketSink(webSocket: WebSocket, drained: () => void): FeedSink {
  return {
    send: (message, text) =>
      webSocket.send(textOf(message, text), () => {
        if (webSocket.bufferedAmount === 0) drained();
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
