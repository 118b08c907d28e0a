// Names in what git writes: bytes on the system, text in an answer. What is no text stays out, so that no name is ever made up.
import { RepositoryPath } from '@roost/protocol';

const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** null when the bytes are not UTF-8. */
export function strictText(bytes: Uint8Array): string | null {
  try {
    return STRICT.decode(bytes);
  } catch {
    return null;
  }
}

/** Of a path from the repository's top, the part inside the workspace; null when it is no text, too long, or elsewhere. */
export function pathInside(bytes: Buffer, prefix: Buffer): RepositoryPath | null {
  if (!bytes.subarray(0, prefix.length).equals(prefix)) return null;
  const text = strictText(bytes.subarray(prefix.length));
  const parsed = RepositoryPath.safeParse(text);
  return parsed.success ? parsed.data : null;
}

/** The parts between NULs; what follows the last one is given too, when there is anything. */
export function splitAtNul(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf(0); at >= 0; at = bytes.indexOf(0, from)) {
    parts.push(bytes.subarray(from, at));
    from = at + 1;
  }
  if (from < bytes.length) parts.push(bytes.subarray(from));
  return parts;
}
