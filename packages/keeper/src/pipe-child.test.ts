import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { INPUT_STALL_MS, INPUT_WAITING_BYTES_MAX } from './input-queue.ts';
import { PipeChild } from './pipe-child.ts';

let directory: string;
let child: PipeChild;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'roost-pipe-child-'));
  // The child and its pipes are real; only the limits of `PipeChild` are on this clock.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
  child.dispose();
  rmSync(directory, { recursive: true, force: true });
});

async function start(script: string): Promise<void> {
  child = await PipeChild.start(
    {
      sessionId: 'a'.repeat(16),
      transport: 'pipe',
      file: '/bin/sh',
      argv: ['sh', '-c', `await() { while [ ! -e "$1" ]; do sleep 0.02; done; }; ${script}`],
      directory,
      environment: {},
      size: { columns: 80, rows: 24 },
      scrollbackLines: 0,
      note: '',
    },
    { PATH: process.env.PATH ?? '/bin:/usr/bin' },
    { output: () => undefined, ended: () => undefined },
  );
}
const input = (bytes: number) => [{ bytes: Buffer.alloc(bytes, 'x'), delayBeforeMs: 0 }];
const tell = (name: string) => writeFileSync(join(directory, name), '');
async function until(what: string, probe: () => boolean): Promise<void> {
  const deadline = performance.now() + 15_000;
  while (!probe()) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await delay(5);
  }
}

describe('input of a pipe child', () => {
  it('is closed when the program does not read, so that nothing of the rest arrives', async () => {
    const TOTAL = 4 * 1024 * 1024;
    await start('await go; wc -c > counted; touch done; sleep 600');
    const stuck = child.submit(input(TOTAL)).catch((error: unknown) => error);
    const behind = child.submit(input(1)).catch((error: unknown) => error);
    // The system's buffer takes some pieces, each with a timer of its own; the last timer is of the piece that waits.
    let error: { name: string; bytesWritten: number } | null = null;
    void stuck.then((value) => {
      error = value as typeof error;
    });
    await until('the stall', () => {
      vi.advanceTimersByTime(INPUT_STALL_MS / 100);
      return error !== null;
    });
    expect(error).toMatchObject({ name: 'InputStalled' });
    expect(await behind).toMatchObject({ name: 'InputClosed' });
    tell('go');
    await until('the count', () => existsSync(join(directory, 'done')));
    const counted = Number(readFileSync(join(directory, 'counted'), 'utf8'));
    const { bytesWritten } = error as unknown as { bytesWritten: number };
    expect(bytesWritten).toBeGreaterThan(0);
    expect(counted).toBeGreaterThanOrEqual(bytesWritten);
    expect(counted - bytesWritten).toBeLessThan(64 * 1024);
  });

  it('may take longer than the limit while the program reads on', async () => {
    const TOTAL = 2 * 1024 * 1024;
    const STEPS = [1, 2, 3, 4];
    await start(
      `for i in ${STEPS.join(' ')}; do await go$i; head -c ${TOTAL / 4} > /dev/null; done; sleep 600`,
    );
    const progress = vi.spyOn(globalThis, 'clearTimeout');
    const job = child.submit(input(TOTAL));
    await until('the first pieces', () => progress.mock.calls.length > 0);
    for (const step of STEPS) {
      await vi.advanceTimersByTimeAsync(INPUT_STALL_MS * 0.6);
      const before = progress.mock.calls.length;
      tell(`go${step}`);
      await until('progress', () => progress.mock.calls.length > before || step === 4);
    }
    expect(await job).toBe(TOTAL);
  });

  it('is refused above what may wait', async () => {
    await start('sleep 600');
    const waiting = child.submit(input(INPUT_WAITING_BYTES_MAX)).catch((error: unknown) => error);
    await expect(child.submit(input(1))).rejects.toMatchObject({ name: 'InputStalled', bytesWritten: 0 });
    child.dispose();
    expect(await waiting).toMatchObject({ name: 'InputClosed' });
  });
});
