/** What the kernel tells about a process of the test: memory, descriptors, and whether it is still there. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

export const MIB = 1024 * 1024;

/** Resident memory now. */
export function residentBytes(pid: number): number {
  return statusBytes(pid, 'VmRSS');
}

/** The most that was ever resident. */
export function peakResidentBytes(pid: number): number {
  return statusBytes(pid, 'VmHWM');
}

function statusBytes(pid: number, field: string): number {
  const match = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(match?.[1]) * 1024;
}

export function openDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Every process, with its words; those that vanish meanwhile are left out. */
export function processes(): { pid: number; words: string[] }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        return [{ pid: Number(name), words: readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0') }];
      } catch {
        return [];
      }
    });
}

/** Makes the peak start anew from what is resident now. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
