// The beginning and the end of a session's file, as whole lines, and what they say about the session.
import { isUtf8 } from 'node:buffer';
import { ProviderSession } from '@roost/protocol';
import type { HistoryFiles, HistorySummary } from '@roost/providers';
import type { OpenFile } from './below.ts';

/** Bytes of a session that is shown at all: what is larger was not written by a conversation. */
export const SESSION_FILE_BYTES_MAX = 1024 * 1024 * 1024;

/** Bytes of a beginning that is read when the usual ones say too little. */
const LONG_HEAD_BYTES = 1024 * 1024;

export type HeadFault = 'tooLarge' | 'unknownFormat';

/** `companion`: text of the file that says more about all of them. @throws NotBelow. */
export async function readSummary(
  { headBytes, tailBytes, summarise }: HistoryFiles,
  file: OpenFile,
  path: readonly string[],
  companion: string | null,
): Promise<HistorySummary | 'not-a-session' | HeadFault> {
  const { size } = file.state;
  if (size > SESSION_FILE_BYTES_MAX) return 'tooLarge';
  const from = Math.max(headBytes, size - tailBytes);
  const tail = from < size ? linesAfterFirst(await file.bytes(from, size - from)) : '';
  if (tail === null) return 'unknownFormat';
  // A long prompt, or a picture, may stand in front of what is looked for.
  for (const length of [headBytes, LONG_HEAD_BYTES]) {
    const head = wholeLines(await file.bytes(0, Math.min(size, length)), size <= length);
    if (head === null) return 'unknownFormat';
    const summary = summarise({ path, head, isWhole: size <= length, tail, companion });
    if (summary === 'not-a-session') return summary;
    if (summary !== null) return isResumable(summary) ? summary : 'unknownFormat';
    if (size <= length) break;
  }
  return 'unknownFormat';
}

/** What is no id could not be resumed. */
function isResumable({ sessionId }: HistorySummary): boolean {
  return ProviderSession.shape.id.safeParse(sessionId).success;
}

/** Without a line of which the end is missing; null when it is no text. */
function wholeLines(bytes: Buffer, isAll: boolean): string | null {
  const end = isAll ? bytes.length : bytes.lastIndexOf(0x0a) + 1;
  return textOf(bytes.subarray(0, end));
}

/** Without the line in whose middle it begins. */
function linesAfterFirst(bytes: Buffer): string | null {
  const begin = bytes.indexOf(0x0a) + 1;
  return begin === 0 ? '' : textOf(bytes.subarray(begin));
}

function textOf(bytes: Buffer): string | null {
  // Of the last line of a file that is being written, half a character may be there.
  const end = isUtf8(bytes) ? bytes.length : bytes.lastIndexOf(0x0a) + 1;
  const lines = bytes.subarray(0, end);
  return isUtf8(lines) && !lines.includes(0) ? lines.toString('utf8') : null;
}
