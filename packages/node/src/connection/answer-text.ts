// The JSON text of an answer. The lists of a large one consist of values that were asked for before and have not changed since: their
// texts are at hand, and joining those is a small part of the work of writing them anew.
import type { NodeFrame } from '@roost/protocol';
import { knownText } from '../control/answer-room.ts';

export type Answer = Extract<NodeFrame, { kind: 'response' | 'failure' }>;

/** The same as `JSON.stringify`. */
export function answerText(frame: Answer): string {
  if (frame.kind === 'failure' || !isPlain(frame.result)) return JSON.stringify(frame);
  // Joined once: every step between would be another copy of all of it.
  const parts: string[] = [`{"kind":"response","id":${frame.id},"result":{`];
  let comma = '';
  for (const [name, value] of Object.entries(frame.result)) {
    const key = `${comma}${JSON.stringify(name)}:`;
    if (Array.isArray(value)) addList(parts, key, value);
    else {
      const text = JSON.stringify(value) as string | undefined;
      if (text === undefined) continue;
      parts.push(key, text);
    }
    comma = ',';
  }
  parts.push('}}');
  return parts.join('');
}

function addList(parts: string[], key: string, list: readonly unknown[]): void {
  parts.push(key, '[');
  for (let index = 0; index < list.length; index += 1) {
    if (index > 0) parts.push(',');
    parts.push(elementText(list[index]));
  }
  parts.push(']');
}

/** What has no text of its own, such as a hole, is null in a list. */
function elementText(value: unknown): string {
  const known = typeof value === 'object' && value !== null ? knownText(value) : undefined;
  if (known !== undefined) return known;
  const text = JSON.stringify(value) as string | undefined;
  return text ?? 'null';
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.getPrototypeOf(value) === Object.prototype &&
    !('toJSON' in value)
  );
}
