// Events as server-sent events, for browsers and `curl -N`.
import type { ServerResponse } from 'node:http';
import type { HubEventMessage } from '@roost/protocol';
import type { FeedSink } from './event-feed.ts';

export function streamSink(response: ServerResponse): FeedSink {
  return {
    send: (message, text) => void response.write(chunkOf(message, text)),
    /** Not with the kernel yet. */
    get bufferedBytes() {
      return response.writableLength;
    },
  };
}

function chunkOf(message: HubEventMessage, text: string): string {
  const id = `id: ${message.cursor}\n`;
  switch (message.kind) {
    case 'event':
      return `${id}data: ${text}\n\n`;
    case 'resync':
      return `${id}event: resync\ndata: {}\n\n`;
    case 'alive':
      return `${id}event: alive\ndata: {}\n\n`;
  }
}
