// Amounts for people.

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

/** Three digits at most: `12.3 MB`. 1 KB is 1,024 bytes. */
export function bytesText(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  while (amount >= 1_000 && unit < UNITS.length - 1) {
    amount /= 1_024;
    unit++;
  }
  const digits = unit === 0 || amount >= 100 ? 0 : 1;
  return `${amount.toFixed(digits)} ${UNITS[unit] ?? ''}`;
}

/** `1,234`, `12.3k`, `1.2M`. */
export function countText(count: number): string {
  if (count < 10_000) return count.toLocaleString('en');
  if (count < 1_000_000) return `${(count / 1_000).toFixed(1)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}
