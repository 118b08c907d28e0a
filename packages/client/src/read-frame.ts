/** Messages of a node as `ws` delivers them. */
import type { NodeFrame, UnknownEventFrame } from '@roost/protocol';
import type WebSocket from 'ws';
import { ONE_SHOT, parseJsonText, readFrameValue } from './frame-value.ts';

export { ONE_SHOT };

export function bytesOf(data: WebSocket.RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return data instanceof ArrayBuffer ? Buffer.from(data) : data;
}

export function lengthOf(data: WebSocket.RawData): number {
  return Array.isArray(data) ? data.reduce((sum, { length }) => sum + length, 0) : data.byteLength;
}

export function parseJson(bytes: Buffer): unknown {
  return parseJsonText(bytes.toString('utf8'));
}

/** See `readFrameValue`. */
export function readFrame(
  data: WebSocket.RawData,
): NodeFrame | UnknownEventFrame | { readonly kind: 'unknown-kind' } | undefined {
  return readFrameValue(parseJson(bytesOf(data)));
}
