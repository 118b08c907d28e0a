/** Running client commands to their end, and what the process table says about the server side. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Launch } from './terminal.ts';

/** Runs a command to its end and answers what it printed. Throws with its error output when it fails. */
export function run(launch: Launch): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(launch.file, launch.arguments, {
      cwd: launch.directory,
      env: launch.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let complaint = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
    child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString('utf8')));
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      // A daemon may have inherited the pipes: what was printed by now is the command's own.
      setImmediate(() => {
        if (code === 0) resolve(output.trim());
        else
          reject(
            new Error(`${launch.file} ${launch.arguments.join(' ')}: ${code ?? signal ?? '?'} ${complaint}`),
          );
        child.stdout.destroy();
        child.stderr.destroy();
      });
    });
  });
}

/** Milliseconds that a command takes from its start to its end. */
export async function timed(launch: Launch): Promise<number> {
  const start = performance.now();
  await run(launch);
  return performance.now() - start;
}

/** False for a process that has ended, even when its parent has not taken note yet. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

export async function waitUntil(
  what: string,
  condition: () => boolean | Promise<boolean>,
  patienceMs = 10_000,
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`after ${patienceMs} ms still not: ${what}`);
    await sleep(10);
  }
}

/** Milliseconds of processor time that a process has used. */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // Behind the name, which may hold anything: user and system time, in ticks of 10 ms.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

export interface Weight {
  /** Proportional set size, in MiB: private memory plus the process's share of what several map. */
  readonly pss: number;
  /** Memory of nobody else, in MiB. */
  readonly own: number;
}

/** Memory of processes together. On a kernel without rollups both figures are the resident size. */
export function weigh(pids: readonly number[]): Weight {
  let pss = 0;
  let own = 0;
  for (const pid of pids) {
    const table = readMemory(pid);
    pss += table.get('Pss') ?? table.get('VmRSS') ?? 0;
    own += table.has('Pss')
      ? (table.get('Private_Clean') ?? 0) + (table.get('Private_Dirty') ?? 0)
      : (table.get('VmRSS') ?? 0);
  }
  return { pss: pss / 1024, own: own / 1024 };
}

function readMemory(pid: number): ReadonlyMap<string, number> {
  const text = readFirst(`/proc/${pid}/smaps_rollup`, `/proc/${pid}/status`);
  const entries = [...text.matchAll(/^(\w+):\s+(\d+) kB$/gm)];
  return new Map(entries.map(([, name = '', kibibytes]) => [name, Number(kibibytes)]));
}

function readFirst(...paths: readonly string[]): string {
  for (const path of paths) {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      continue;
    }
  }
  throw new Error(`cannot read ${paths.join(' or ')}`);
}
