/** The two parts that are machine code: that they load on this machine, and do the least that is asked of them. */
import type { Finding } from './examine.ts';

/** Milliseconds for starting and ending one process in a terminal. */
const SPAWN_WAIT_MS = 5_000;

export async function* examineNativeParts(): AsyncGenerator<Finding, void, void> {
  yield await examinePart('terminals', 'node-pty', async () => {
    const { spawn } = await import('@lydell/node-pty');
    const child = spawn('/bin/sh', ['-c', 'exit 7'], { cols: 80, rows: 24 });
    let timer: NodeJS.Timeout | undefined;
    const code = await new Promise<number | undefined>((resolve) => {
      child.onExit(({ exitCode }) => resolve(exitCode));
      timer = setTimeout(() => resolve(undefined), SPAWN_WAIT_MS);
    });
    clearTimeout(timer);
    if (code === 7) return;
    child.kill('SIGKILL');
    throw new Error(`a process that exits with 7 was seen to exit with ${code ?? 'nothing'}`);
  });
  yield await examinePart('database', 'libsql', async () => {
    const { default: Database } = await import('libsql');
    const database = new Database(':memory:');
    database.exec('CREATE TABLE probe (value INTEGER) STRICT');
    database.close();
  });
}

async function examinePart(subject: string, name: string, probe: () => Promise<void>): Promise<Finding> {
  try {
    await probe();
    return { level: 'ok', subject, text: `${name} works` };
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    return { level: 'fail', subject, text: `${name}: ${reason}; install Roost anew on this machine` };
  }
}
