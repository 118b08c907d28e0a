// A small file of a repository, in which anybody may have put anything.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { systemErrorCode } from '@roost/storage';

/** What is there instead of a text: nothing at all, or something that is no regular file of at most so many bytes. */
export type NoText = 'absent' | 'unreadable';

/** Never throws. */
export async function readText(path: string, bytesMax: number): Promise<{ text: string } | NoText> {
  try {
    // Without waiting: a pipe in its place must not hold the node.
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const facts = await file.stat();
      if (!facts.isFile() || facts.size > bytesMax) return 'unreadable';
      const buffer = Buffer.allocUnsafe(facts.size + 1);
      let length = 0;
      for (let read = -1; read !== 0 && length < buffer.length; length += read) {
        ({ bytesRead: read } = await file.read(buffer, length, buffer.length - length));
      }
      // Written to meanwhile.
      if (length > facts.size) return 'unreadable';
      return { text: buffer.toString('utf8', 0, length) };
    } finally {
      await file.close();
    }
  } catch (error) {
    return systemErrorCode(error) === 'ENOENT' ? 'absent' : 'unreadable';
  }
}

/** null when there is none. */
export async function textOf(path: string, bytesMax: number): Promise<string | null> {
  const found = await readText(path, bytesMax);
  return typeof found === 'string' ? null : found.text;
}
