import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { expect, it } from 'vitest';

it('a process ends with its code, and all the same while a file call of it hangs', () => {
  const directory = mkdtempSync(join(tmpdir(), 'roost-end-'));
  try {
    const source = readFileSync(new URL('./end-process.ts', import.meta.url), 'utf8');
    writeFileSync(join(directory, 'end-process.mjs'), transformSync(source, { loader: 'ts' }).code);
    // Nobody ever writes to it: opening it does not return.
    execFileSync('mkfifo', [join(directory, 'pipe')]);
    const ended = (...before: string[]) => {
      const lines = [
        `import { endProcess } from './end-process.mjs';`,
        ...before,
        'setTimeout(() => endProcess(7), 50);',
      ];
      writeFileSync(join(directory, 'main.mjs'), lines.join('\n'));
      const { status, signal } = spawnSync(process.execPath, ['main.mjs'], {
        cwd: directory,
        timeout: 20_000,
        killSignal: 'SIGABRT',
      });
      return { status, signal };
    };
    expect(ended()).toEqual({ status: 7, signal: null });
    const hanging = [`import { open } from 'node:fs/promises';`, `void open('pipe', 'r');`];
    expect(ended(...hanging)).toEqual({ status: null, signal: 'SIGKILL' });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}, 60_000);
