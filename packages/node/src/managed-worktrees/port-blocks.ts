// Ports that belong to one worktree: some in a row, out of the configured range, that no other worktree has and that nothing listens
// on at this moment.
import { createServer } from 'node:net';
import { FailureError, type PortBlock } from '@roost/protocol';

export interface PortRange {
  readonly first: number;
  /** Inclusive. */
  readonly last: number;
}

/** Ports looked at for one worktree at most: beyond that, the machine has other troubles. */
const PROBES_MAX = 2_000;

/**
 * The first free block at or after the one given last, around the range. Whoever stores it checks `overlaps` again: what is taken may
 * have changed while the ports were tried.
 * @throws FailureError: worktree-ports-exhausted.
 */
export async function findPortBlock(
  { first, last }: PortRange,
  count: number,
  taken: readonly PortBlock[],
  isFree: (port: number) => Promise<boolean> = isPortFree,
): Promise<PortBlock> {
  let probes = 0;
  let base = first;
  while (base + count - 1 <= last) {
    const other = taken.find((block) => overlaps(block, { base, count }));
    if (other !== undefined) {
      base = other.base + other.count;
      continue;
    }
    let busy: number | null = null;
    for (let port = base; port < base + count && busy === null; port += 1) {
      probes += 1;
      if (!(await isFree(port))) busy = port;
    }
    if (busy === null) return { base, count };
    if (probes >= PROBES_MAX) break;
    base = busy + 1;
  }
  throw new FailureError('worktree-ports-exhausted', { count, first, last });
}

export function overlaps(one: PortBlock, other: PortBlock): boolean {
  return one.base < other.base + other.count && other.base < one.base + one.count;
}

/** Whether nothing listens there, on any address of this machine. */
async function isPortFree(port: number): Promise<boolean> {
  for (const host of ['127.0.0.1', '0.0.0.0', '::']) {
    if (!(await canListen(port, host))) return false;
  }
  return true;
}

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      // A machine without that family has nothing listening there.
      resolve(error.code === 'EAFNOSUPPORT' || error.code === 'EADDRNOTAVAIL');
    });
    server.listen({ port, host, exclusive: true, ipv6Only: host === '::' }, () => {
      server.close(() => resolve(true));
    });
  });
}
