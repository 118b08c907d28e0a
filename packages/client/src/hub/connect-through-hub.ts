/** A connection to a node that a hub passes on (`hub/relay.ts` of the protocol). */
import {
  FailureError,
  NODE_FRAME_BYTES_MAX,
  OFFERED_CAPABILITIES,
  PROTOCOL_MAX,
  PROTOCOL_MIN,
  RELAY_PATH,
  RelayAnswer,
  type Hello,
  type RelayOpen,
  type RelayOpened,
} from '@roost/protocol';
import WebSocket from 'ws';
import type { NodeConnection } from '../connection.ts';
import { OpenConnection } from '../open-connection.ts';
import { bytesOf, ONE_SHOT, parseJson } from '../read-frame.ts';
import { failureOfProblem } from '../problem.ts';
import { connectFailure } from './hub-request.ts';
import { requestOptions, type HubTarget } from './hub-target.ts';

/** Milliseconds until the hub has a line to the node: it may have to ask the node to call. */
const OPEN_MS = 15_000;
const ANSWER_BYTES_MAX = 64 * 1024;

/**
 * `node`: its id. Fails with what the hub refuses with (`unknown-node`, `node-offline`, `out-of-scope`, `unauthenticated`, ...),
 * `hub-unreachable`, `hub-untrusted`, `hub-not-running`.
 */
export async function connectThroughHub(
  target: HubTarget,
  {
    node,
    client,
    timeoutMs = OPEN_MS,
  }: { readonly node: string; readonly client: Hello['client']; readonly timeoutMs?: number },
): Promise<NodeConnection> {
  const { base, isSecure, options, headers } = requestOptions(target);
  const url = new URL(RELAY_PATH.replace('{node}', encodeURIComponent(node)), base);
  url.protocol = isSecure ? 'wss:' : 'ws:';
  const webSocket = new WebSocket(url, {
    ...(options as WebSocket.ClientOptions),
    headers,
    perMessageDeflate: false,
    maxPayload: NODE_FRAME_BYTES_MAX,
    handshakeTimeout: timeoutMs,
  });
  const opened = await open(webSocket, target, client, timeoutMs);
  const { selection, ready, role } = opened;
  return new OpenConnection({ webSocket, selection, ready }, { role, isLocal: false });
}

function open(
  webSocket: WebSocket,
  target: HubTarget,
  client: Hello['client'],
  timeoutMs: number,
): Promise<RelayOpened> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      clearTimeout(timer);
      webSocket.off('message', onMessage);
      webSocket.terminate();
      reject(error);
    };
    const timer = setTimeout(() => fail(new FailureError('hub-unreachable', { timeoutMs })), timeoutMs);
    const onMessage = (data: WebSocket.RawData): void => {
      const answer = RelayAnswer.safeParse(parseJson(bytesOf(data)), ONE_SHOT).data;
      if (answer === undefined)
        fail(new FailureError('unsupported-protocol', { reason: 'another frame than the opening' }));
      else if (answer.kind === 'refused') fail(FailureError.from(answer.failure));
      else {
        clearTimeout(timer);
        webSocket.off('message', onMessage);
        resolve(answer);
      }
    };
    webSocket.on('error', (error) => fail(connectFailure(target, error)));
    webSocket.on('close', () => fail(connectFailure(target, new Error('closed'))));
    webSocket.on('unexpected-response', (_, response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        if (text.length < ANSWER_BYTES_MAX) text += chunk;
      });
      response.once('end', () =>
        fail(failureOfProblem(response.statusCode ?? 0, parseJson(Buffer.from(text)))),
      );
    });
    webSocket.on('message', onMessage);
    webSocket.once('open', () => {
      const frame: RelayOpen = {
        kind: 'open',
        protocol: { min: PROTOCOL_MIN, max: PROTOCOL_MAX },
        capabilities: [...OFFERED_CAPABILITIES],
        client,
      };
      webSocket.send(JSON.stringify(frame));
    });
  });
}
