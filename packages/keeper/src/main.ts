/**
 * A keeper process: `keeper --socket PATH --id ID --roost-version V`. It owns children and outlives the node that started it.
 * Without a child and without a connection it ends by itself; told to end (SIGTERM), it ends its children first.
 */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { processStart } from './processes/index.ts';
import { complain, KeeperServer } from './server.ts';

/** Milliseconds without child and connection after which a keeper ends. */
const IDLE_MS = 30_000;
const IDLE_LOOK_MS = 1_000;
/** Milliseconds of grace for the children when the keeper is told to end. */
const END_GRACE_MS = 3_000;

const { values } = parseArgs({
  options: { socket: { type: 'string' }, id: { type: 'string' }, 'roost-version': { type: 'string' } },
});
const { socket: socketPath, id: keeperId, 'roost-version': version } = values;
if (socketPath === undefined || keeperId === undefined || version === undefined) {
  process.stderr.write('usage: keeper --socket PATH --id ID --roost-version V\n');
  process.exit(2);
}

process.umask(0o077);
process.title = `roost-keeper ${keeperId}`;
process.on('SIGHUP', () => undefined);
process.on('SIGINT', () => undefined);
// Children matter more than purity: a fault in one session's code must not take the others down.
process.on('uncaughtException', (error) => complain('uncaught', error));
process.on('unhandledRejection', (error) => complain('unhandled', error));

const identityPath = socketPath.replace(/\.sock$/, '.json');
const server = new KeeperServer({ keeperId, version }, socketPath);

const end = () => {
  server.close();
  rmSync(identityPath, { force: true });
  process.exit(0);
};

process.on('SIGTERM', () => {
  const running = server.children.list().filter(({ exit }) => exit === null);
  void Promise.allSettled(running.map(({ sessionId }) => server.children.stop(sessionId, END_GRACE_MS))).then(
    end,
  );
});

const identity = { pid: process.pid, processStart: processStart(process.pid), version };
try {
  // Whole or not at all: half an identity would be taken for none, and its process never found.
  writeFileSync(`${identityPath}.new`, JSON.stringify(identity), { mode: 0o600 });
  renameSync(`${identityPath}.new`, identityPath);
  await server.listen();
} catch (error) {
  complain('cannot start', error);
  for (const path of [`${identityPath}.new`, identityPath]) rmSync(path, { force: true });
  process.exit(1);
}

let idleSince = performance.now();
setInterval(() => {
  if (server.children.count > 0 || server.connections > 0) idleSince = performance.now();
  else if (performance.now() - idleSince > IDLE_MS) end();
}, IDLE_LOOK_MS);
