// Bundles one process of the lab for one test file, so that its tests never run what an earlier build left behind.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export interface BuiltProcess {
  file: string;
  directory: string;
  remove: () => Promise<void>;
}

export async function buildForTest(name: 'lab-agent' | 'mock-server'): Promise<BuiltProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'roost-lab-'));
  const file = join(directory, `${name}.js`);
  await build({
    entryPoints: [fileURLToPath(new URL(`${name}.ts`, import.meta.url))],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
  });
  await writeFile(join(directory, 'package.json'), '{"type":"module"}');
  return { file, directory, remove: () => rm(directory, { recursive: true, force: true }) };
}
