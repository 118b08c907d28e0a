/** A screen's lines as text for standard output: blank lines at the end mean nothing, and are left out. */
export function screenText(lines: readonly string[], last = Number.POSITIVE_INFINITY): string {
  let end = lines.length;
  while (end > 0 && lines[end - 1]?.trim() === '') end--;
  const shown = lines.slice(Math.max(0, end - last), end);
  return shown.length === 0 ? '' : `${shown.join('\n')}\n`;
}
