// What the bytes of a file are: text with a revision, or something that is not shown.
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { FileRevision, WORKSPACE_FILE_BYTES_MAX, type FileContent } from '@roost/protocol';
import type { RegularFile } from './parent-directory.ts';
import { faultOf } from './path-fault.ts';

/** SHA-256 of the bytes. */
export function revisionOf(bytes: Uint8Array): FileRevision {
  return FileRevision.parse(createHash('sha256').update(bytes).digest('hex'));
}

/** Reads what the limit allows and one byte more. @throws PathFault failed. */
export async function readContent({ handle }: RegularFile): Promise<FileContent> {
  // The size is no help: it may grow, and some file systems tell none.
  const buffer = Buffer.allocUnsafe(WORKSPACE_FILE_BYTES_MAX + 1);
  let length = 0;
  try {
    for (let read = -1; read !== 0 && length < buffer.length; length += read) {
      read = (await handle.read(buffer, length, buffer.length - length, length)).bytesRead;
    }
  } catch (error) {
    throw faultOf(error);
  }
  if (length > WORKSPACE_FILE_BYTES_MAX) return { kind: 'too-large', limitBytes: WORKSPACE_FILE_BYTES_MAX };
  return classify(buffer.subarray(0, length));
}

function classify(bytes: Buffer): FileContent {
  const { byteLength } = bytes;
  if (bytes.includes(0) || !isUtf8(bytes)) return { kind: 'binary', byteLength };
  // Byte for byte: a mark at the beginning is a part of the text, and writing it back must not lose it.
  return { kind: 'text', text: bytes.toString('utf8'), byteLength, revision: revisionOf(bytes) };
}
