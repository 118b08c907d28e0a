// The files of keepers: socket, identity and log, each named after the keeper. A keeper writes its identity itself; pid and start
// time together say whether it still runs. Files go only when the process is known to be gone.
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { KeeperId } from '@roost/protocol';
import { readProcessTable } from '@roost/keeper/processes';

const Identity = z.object({ pid: z.int().positive(), processStart: z.string(), version: z.string() });
export type KeeperIdentity = z.infer<typeof Identity>;

/** Complaints of keepers that are gone: this many are kept, the newest. */
const OLD_LOGS_KEPT = 8;

export class KeeperFiles {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  socket(id: KeeperId): string {
    return join(this.#directory, `${id}.sock`);
  }

  log(id: KeeperId): string {
    return join(this.#directory, `${id}.log`);
  }

  /** Every keeper that left a socket or an identity. */
  found(): KeeperId[] {
    const ids = new Set<KeeperId>();
    for (const name of readdirSync(this.#directory)) {
      const match = /^([0-9a-f]{16})\.(?:sock|json)$/.exec(name);
      if (match !== null) ids.add(KeeperId.parse(match[1]));
    }
    return [...ids];
  }

  /** null when there is none, or it is no identity. */
  identity(id: KeeperId): KeeperIdentity | null {
    try {
      const parsed = Identity.safeParse(JSON.parse(readFileSync(this.#identityPath(id), 'utf8')));
      return parsed.success ? parsed.data : null;
    } catch {
      return null;
    }
  }

  /** After the process is known to be gone. Complaints that it left are kept for a while. */
  remove(id: KeeperId): void {
    for (const path of [this.socket(id), this.#identityPath(id), `${this.#identityPath(id)}.new`])
      rmSync(path, { force: true });
    this.#sweepLogs(new Set(this.found()));
  }

  #sweepLogs(present: ReadonlySet<string>): void {
    const old = readdirSync(this.#directory)
      .filter((name) => /^[0-9a-f]{16}\.log$/.test(name) && !present.has(name.slice(0, 16)))
      .map((name) => join(this.#directory, name))
      .map((path) => ({ path, ...logFacts(path) }))
      .sort((a, b) => b.writtenAt - a.writtenAt);
    for (const [index, log] of old.entries()) {
      if (log.bytes === 0 || index >= OLD_LOGS_KEPT) rmSync(log.path, { force: true });
    }
  }

  #identityPath(id: KeeperId): string {
    return join(this.#directory, `${id}.json`);
  }
}

function logFacts(path: string): { bytes: number; writtenAt: number } {
  try {
    const { size, mtimeMs } = statSync(path);
    return { bytes: size, writtenAt: mtimeMs };
  } catch {
    return { bytes: 0, writtenAt: 0 };
  }
}

/** False only on evidence: no such process, another one under that pid, or one that has ended and waits to be collected. */
export function keeperRuns(identity: KeeperIdentity): boolean {
  const entry = readProcessTable([identity.pid]).get(identity.pid);
  if (entry?.start !== identity.processStart) return false;
  return entry.state !== 'Z' && entry.state !== 'X';
}
