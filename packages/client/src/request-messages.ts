/**
 * One request as the messages that carry it: a frame, or parts of its text when it is longer than a frame may be. The pieces
 * are cut between characters, so that every part is text by itself.
 */
import {
  CLIENT_FRAME_BYTES_MAX,
  FailureError,
  REQUEST_BYTES_MAX,
  type Request,
  type RequestPart,
} from '@roost/protocol';

/** UTF-16 units of one piece: in JSON, none of them takes more than three bytes. The rest is for the frame around it. */
const PIECE_UNITS = Math.floor((CLIENT_FRAME_BYTES_MAX - 256) / 3);

/** @throws FailureError invalid-request when it is too long for any number of parts. */
export function requestMessages(request: Request): string[] {
  const text = JSON.stringify(request);
  const bytes = new TextEncoder().encode(text).length;
  if (bytes <= CLIENT_FRAME_BYTES_MAX) return [text];
  if (bytes > REQUEST_BYTES_MAX) {
    throw new FailureError('invalid-request', { bytes, limit: REQUEST_BYTES_MAX });
  }
  const parts: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = cutBetweenCharacters(text, at + PIECE_UNITS);
    const part: RequestPart = {
      kind: 'part',
      id: request.id,
      text: text.slice(at, end),
      last: end >= text.length,
    };
    parts.push(JSON.stringify(part));
    at = end;
  }
  return parts;
}

function cutBetweenCharacters(text: string, at: number): number {
  if (at >= text.length) return text.length;
  const before = text.charCodeAt(at - 1);
  return before >= 0xd800 && before <= 0xdbff ? at - 1 : at;
}
