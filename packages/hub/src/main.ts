// The hub as a process: `hub --home DIR [--node-socket PATH] [--ready-fd N]`. Tells whoever started it, once, that it serves or why it does not; then lives until
// it is told to stop. Nodes and their sessions outlive it.
import { closeSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { failure, FailureError, type Failure, type HubId } from '@roost/protocol';
import { startHub, type Hub } from './hub.ts';

const { values } = parseArgs({
  options: {
    home: { type: 'string' },
    // Of the node on this machine.
    'node-socket': { type: 'string' },
    'ready-fd': { type: 'string' },
  },
});
const { home, 'node-socket': nodeSocket, 'ready-fd': readyDescriptor } = values;
if (home === undefined) {
  process.stderr.write('usage: hub --home DIR [--node-socket PATH] [--ready-fd N]\n');
  process.exit(2);
}

process.umask(0o077);
process.title = 'roost-hub';
process.on('SIGHUP', () => undefined);

let hub: Hub | null = null;
let toldToStop = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    toldToStop = true;
    void hub?.stop();
  });
}
for (const kind of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(kind, (error: unknown) => {
    hub?.log.fatal({ err: error }, kind);
    process.stderr.write(
      `roost: internal-error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exit(1);
  });
}

try {
  hub = await startHub({
    home,
    // Put in by the build.
    version: process.env.ROOST_VERSION ?? 'unbuilt',
    localNode: nodeSocket === undefined ? null : { socketPath: nodeSocket },
    web: fileURLToPath(new URL('./web', import.meta.url)),
    apiDocument: () => readFile(new URL('./openapi.json', import.meta.url), 'utf8'),
    logLevel: process.env.ROOST_LOG,
  });
} catch (error) {
  refuse(error);
}
if (hub !== null) await serve(hub);

async function serve(running: Hub): Promise<void> {
  tell({ ready: true, pid: process.pid, socket: running.socket, url: running.url, hubId: running.hubId });
  if (toldToStop) void running.stop();
  await running.stopped;
  process.exit(0);
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

type Told =
  | {
      readonly ready: true;
      readonly pid: number;
      readonly socket: string;
      readonly url: string;
      readonly hubId: HubId;
    }
  | { readonly failure: Failure };

function tell(message: Told): void {
  if (readyDescriptor === undefined) return;
  const descriptor = Number(readyDescriptor);
  try {
    writeSync(descriptor, `${JSON.stringify(message)}\n`);
    closeSync(descriptor);
  } catch {
    // Whoever started us has gone.
  }
}
