import type { PipeStream } from './wire.ts';

export interface PipeOutput {
  readonly sessionId: string;
  readonly stream: PipeStream;
  /** Absolute offset of the first byte in its stream. */
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** Layout: see `KeeperFrameKind.pipeOutput`. */
export function encodePipeOutput(output: PipeOutput): Uint8Array {
  const id = Buffer.from(output.sessionId, 'ascii');
  const payload = Buffer.allocUnsafe(1 + id.length + 1 + 8 + output.bytes.length);
  payload[0] = id.length;
  id.copy(payload, 1);
  payload[1 + id.length] = output.stream === 'stdout' ? 1 : 2;
  payload.writeBigUInt64BE(BigInt(output.offset), 2 + id.length);
  payload.set(output.bytes, 10 + id.length);
  return payload;
}

export function decodePipeOutput(payload: Uint8Array): PipeOutput {
  const view = Buffer.from(payload.buffer, payload.byteOffset, payload.length);
  const idLength = view.readUInt8(0);
  return {
    sessionId: view.toString('ascii', 1, 1 + idLength),
    stream: view.readUInt8(1 + idLength) === 1 ? 'stdout' : 'stderr',
    offset: Number(view.readBigUInt64BE(2 + idLength)),
    bytes: view.subarray(10 + idLength),
  };
}
