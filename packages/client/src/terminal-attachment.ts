/**
 * Attaching to terminal sessions: on the node's machine straight at the keeper's socket, so that a restart of the node does not even interrupt
 * it; from elsewhere over the connection to the node.
 */
import type { Duplex } from 'node:stream';
import { FailureError, type SessionId } from '@roost/protocol';
import type { NodeConnection } from './connection.ts';
import { openSocket } from './open-socket.ts';
import {
  ATTACH_TIMEOUT_MS,
  TerminalLane,
  type LaneCarrier,
  type LaneRequest,
  type TerminalAttachment,
} from './terminal-lane.ts';

export type { TerminalAttachment, TerminalListener } from './terminal-lane.ts';

export interface AttachOptions extends LaneRequest {
  readonly endpoint: string;
}

export interface SessionAttachOptions extends Omit<LaneRequest, 'ticket'> {
  readonly sessionId: SessionId;
  readonly mode: 'drive' | 'watch';
}

/** Fails as `session.attach` and `terminal.open` do, and with `attach-refused`. */
export async function attachSession(
  connection: Pick<NodeConnection, 'isLocal' | 'request' | 'openTerminal'>,
  { sessionId, mode, ...view }: SessionAttachOptions,
): Promise<TerminalAttachment> {
  if (!connection.isLocal) {
    const { lane, ticket } = await connection.openTerminal({ sessionId, mode });
    return attachLane(lane, { ticket, ...view });
  }
  return attachTerminal({ ...(await connection.request('session.attach', { sessionId, mode })), ...view });
}

/** Opens the lane with a ticket of `session.attach`. Fails with `attach-refused`, or `keeper-unavailable`. */
export async function attachTerminal({ endpoint, ...request }: AttachOptions): Promise<TerminalAttachment> {
  const socket = await openSocket(endpoint, ATTACH_TIMEOUT_MS).catch((error: unknown) => {
    if (error instanceof FailureError) throw error;
    throw new FailureError('keeper-unavailable', undefined, { cause: error });
  });
  return attachLane(socket, request);
}

async function attachLane(stream: Duplex, request: LaneRequest): Promise<TerminalAttachment> {
  const lane = new TerminalLane(carrierOf(stream));
  stream.on('error', () => stream.destroy());
  stream.on('close', () => lane.end());
  stream.on('data', (chunk: Buffer) => lane.push(chunk));
  await lane.open(request);
  return lane;
}

function carrierOf(stream: Duplex): LaneCarrier {
  return {
    send: (bytes) => !stream.writable || stream.write(bytes),
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
    close: () => {
      stream.end();
      // What comes in is of no use any more.
      stream.resume();
    },
    destroy: () => void stream.destroy(),
  };
}
