/** The size of the terminal that a command was given, as far as a session can have it. */
export function ownSize(stdout: NodeJS.WriteStream): { columns: number; rows: number } | undefined {
  if (!stdout.isTTY || stdout.columns < 1 || stdout.rows < 1) return undefined;
  return { columns: Math.min(stdout.columns, 1000), rows: Math.min(stdout.rows, 1000) };
}
