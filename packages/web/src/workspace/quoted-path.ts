/** Git quotes paths that hold other letters than ASCII, byte by byte. */
export function unquoted(path: string): string {
  const quoted = /^"(.*)"$/s.exec(path)?.[1];
  if (quoted === undefined) return path;
  const bytes: number[] = [];
  for (const [, octal, escaped, plain] of quoted.matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gsu)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else bytes.push(...new TextEncoder().encode(plain ?? ESCAPES[escaped ?? ''] ?? escaped ?? ''));
  }
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };
