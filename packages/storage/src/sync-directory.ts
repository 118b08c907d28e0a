import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Makes what was created, renamed or removed in a directory last through a loss of power. */
export function syncDirectory(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
