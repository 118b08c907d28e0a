import { cpus, loadavg, release, totalmem, type as systemName } from 'node:os';
import type { Launch } from './terminal.ts';
import { run } from './processes.ts';

/** What a reader must know to compare numbers; nothing that names the machine or its owner. */
export interface Machine {
  readonly date: string;
  readonly system: string;
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly runtime: string;
  readonly tmux: string | null;
  readonly loadAtStart: number;
}

export async function describeMachine(): Promise<Machine> {
  return {
    date: new Date().toISOString().slice(0, 10),
    system: `${systemName()} ${release()}`,
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    runtime: `Node ${process.versions.node}`,
    tmux: await tmuxVersion(),
    loadAtStart: Number((loadavg()[0] ?? 0).toFixed(2)),
  };
}

/** null when tmux is not installed. */
async function tmuxVersion(): Promise<string | null> {
  const launch: Launch = {
    file: 'tmux',
    arguments: ['-V'],
    directory: '/',
    environment: { PATH: process.env.PATH ?? '' },
  };
  return run(launch).catch(() => null);
}
