// The node as a process: `node --home DIR [--ready-fd N]`. Tells whoever started it, once, that
// it serves or why it does not; then lives until it is told to stop. Its keepers and their sessions outlive it.
import { closeSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { failure, FailureError, type Failure } from '@roost/protocol';
import { startDaemon, type Daemon } from './daemon.ts';
import { endProcess } from './end-process.ts';

const { values } = parseArgs({
  options: {
    home: { type: 'string' },
    'ready-fd': { type: 'string' },
  },
});
const { home, 'ready-fd': readyDescriptor } = values;
if (home === undefined) {
  process.stderr.write('usage: node --home DIR [--ready-fd N]\n');
  process.exit(2);
}

process.umask(0o077);
process.title = 'roost-node';
process.on('SIGHUP', () => undefined);

let daemon: Daemon | null = null;
let toldToStop = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    toldToStop = true;
    void daemon?.stop();
  });
}
for (const kind of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(kind, (error: unknown) => {
    daemon?.log.fatal({ err: error }, kind);
    process.stderr.write(
      `roost: internal-error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    endProcess(1);
  });
}

try {
  daemon = await startDaemon({
    home,
    // Put in by the build.
    version: process.env.ROOST_VERSION ?? 'unbuilt',
    keeperScript: fileURLToPath(new URL('./keeper.js', import.meta.url)),
    environment: process.env,
    logLevel: process.env.ROOST_LOG,
  });
} catch (error) {
  refuse(error);
}
if (daemon !== null) await serve(daemon);

async function serve(running: Daemon): Promise<void> {
  tell({ ready: true, pid: process.pid, socket: running.socket });
  if (toldToStop) void running.stop();
  await running.stopped;
  endProcess(0);
}

function refuse(error: unknown): void {
  const reason: Failure = error instanceof FailureError ? error.failure : failure('internal-error');
  tell({ failure: reason });
  const details = Object.entries(reason.details ?? {}).map(([name, value]) => ` ${name}=${String(value)}`);
  process.stderr.write(`roost: ${reason.code}: ${reason.message}${details.join('')}\n`);
  if (!(error instanceof FailureError))
    process.stderr.write(`${String(error instanceof Error ? error.stack : error)}\n`);
  process.exit(1);
}

function tell(message: { ready: true; pid: number; socket: string } | { failure: Failure }): void {
  if (readyDescriptor === undefined) return;
  const descriptor = Number(readyDescriptor);
  try {
    writeSync(descriptor, `${JSON.stringify(message)}\n`);
    closeSync(descriptor);
  } catch {
    // Whoever started us has gone.
  }
}
