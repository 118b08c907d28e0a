// Reading a file that others may write: no link is followed, nothing but a regular file is opened for long, no more is read than is
// allowed, and what comes must be UTF-8.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { systemErrorCode } from '@roost/storage';

type SmallFile = { readonly content: string } | { readonly fault: string };

export function readSmallFile(path: string, bytesMax: number): SmallFile {
  let descriptor: number;
  try {
    // Without waiting: a pipe in its place must not hold the node.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'ELOOP') return { fault: 'It is a link.' };
    return { fault: code === 'ENOENT' ? 'It is gone.' : 'It cannot be opened.' };
  }
  try {
    if (!fstatSync(descriptor).isFile()) return { fault: 'It is not a file.' };
    const buffer = Buffer.alloc(bytesMax + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < buffer.length; length += read) {
      read = readSync(descriptor, buffer, length, buffer.length - length, null);
    }
    if (length > bytesMax) return { fault: `It is larger than ${bytesMax} bytes.` };
    return { content: new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, length)) };
  } catch (error) {
    return { fault: error instanceof TypeError ? 'It is not UTF-8.' : 'It cannot be read.' };
  } finally {
    closeSync(descriptor);
  }
}
