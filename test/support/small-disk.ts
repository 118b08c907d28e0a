/** A disk of a few megabytes that a test can fill, make read-only and free again. Mounting needs rights: see `canMount`. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, rmdirSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FILL_STEPS_BYTES = [64 * 1024, 4 * 1024, 1];

export class SmallDisk implements Disposable {
  readonly path: string;

  constructor(megabytes: number) {
    this.path = mkdtempSync(join(tmpdir(), 'roost-disk-'));
    try {
      mount('-t', 'tmpfs', '-o', `size=${megabytes}m`, 'roost-test', this.path);
    } catch (error) {
      rmdirSync(this.path);
      throw error;
    }
  }

  /** Until not one more byte fits. */
  fill(): void {
    const descriptor = openSync(join(this.path, 'ballast'), 'a');
    try {
      for (const bytes of FILL_STEPS_BYTES) while (fits(descriptor, bytes));
    } finally {
      closeSync(descriptor);
    }
  }

  free(): void {
    rmSync(join(this.path, 'ballast'), { force: true });
  }

  makeReadOnly(): void {
    mount('-o', 'remount,ro', this.path);
  }

  makeWritable(): void {
    mount('-o', 'remount,rw', this.path);
  }

  [Symbol.dispose](): void {
    // Lazy: whatever still holds a file there must not keep the mount.
    execFileSync('umount', ['--lazy', this.path]);
    rmdirSync(this.path);
  }
}

function fits(descriptor: number, bytes: number): boolean {
  try {
    return writeSync(descriptor, Buffer.alloc(bytes)) > 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false;
    throw error;
  }
}

function mount(...args: string[]): void {
  execFileSync('mount', args, { stdio: 'pipe' });
}

/** Whether this process may mount; says so when not. */
export function canMount(): boolean {
  try {
    new SmallDisk(1)[Symbol.dispose]();
    return true;
  } catch {
    process.stderr.write('not tested here: small and read-only disks need the right to mount (root)\n');
    return false;
  }
}
