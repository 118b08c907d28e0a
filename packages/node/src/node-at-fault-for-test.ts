// For tests only: a node as a process that kills itself the first time it comes to a named moment. `--home DIR --at POINT`.
import { closeSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startDaemon } from './daemon.ts';

const { values } = parseArgs({ options: { home: { type: 'string' }, at: { type: 'string' } } });
const { home = '', at = '' } = values;

const daemon = await startDaemon({
  home,
  version: '0.0.0-test',
  keeperScript: fileURLToPath(new URL('./keeper.js', import.meta.url)),
  environment: process.env,
  logLevel: 'debug',
  faults: (point) => {
    if (point === at) process.kill(process.pid, 'SIGKILL');
  },
});
process.on('SIGTERM', () => void daemon.stop());
writeSync(3, JSON.stringify({ ready: true }));
closeSync(3);
await daemon.stopped;
process.exit(0);
