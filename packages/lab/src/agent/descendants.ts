// Processes that outlive a careless stop: children, children in a session of their own, and daemons whose parent is gone.
// They run `sleep` under a fixed name, cost almost nothing, and report only when they are set up as asked.
import type { Readable } from 'node:stream';

type DescendantKind = 'plain' | 'setsid' | 'daemon';

interface DescendantOptions {
  count: number;
  kind: DescendantKind;
  /** Ignore SIGTERM and SIGHUP; ignored signals stay ignored across exec. */
  ignoreSignals: boolean;
  stdio: 'ignore' | 'inherit';
}

/** A bit over a week: longer than any test, short enough not to stay for ever when one goes wrong. */
const SECONDS = 700_000;

/** Resolves with the pids once every one of them runs. */
export async function spawnDescendants({
  count,
  kind,
  ignoreSignals,
  stdio,
}: DescendantOptions): Promise<number[]> {
  const { spawn } = await import('node:child_process');
  const trap = ignoreSignals ? `trap '' TERM HUP; ` : '';
  const script =
    kind === 'daemon'
      ? `${trap}sleep ${SECONDS} 3>&- & echo $! >&3`
      : `${trap}echo $$ >&3; exec 3>&-; exec sleep ${SECONDS}`;
  return Promise.all(
    Array.from({ length: count }, async () => {
      const child = spawn('/bin/sh', ['-c', script], {
        detached: kind !== 'plain',
        stdio: [stdio, stdio, stdio, 'pipe'],
      });
      child.unref();
      const report = child.stdio[3] as Readable;
      let text = '';
      for await (const chunk of report) text += String(chunk);
      const pid = Number(text);
      if (!Number.isInteger(pid) || pid <= 0)
        throw new Error(`a descendant did not start: ${JSON.stringify(text)}`);
      return pid;
    }),
  );
}
