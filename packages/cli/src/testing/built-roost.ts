/**
 * The command, the node and the keeper as they ship, bundled for one test file into a directory of its own: tests never
 * run what an earlier build left behind.
 */
import { mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export interface BuiltRoost {
  readonly directory: string;
  /** Path of the command. */
  readonly script: string;
  remove(): Promise<void>;
}

const repository = fileURLToPath(new URL('../../../..', import.meta.url));

export async function buildRoost(): Promise<BuiltRoost> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'roost-cli-')));
  await symlink(join(repository, 'node_modules'), join(directory, 'node_modules'));
  await writeFile(join(directory, 'package.json'), '{"type":"module","version":"0.0.0"}');
  await build({
    absWorkingDir: repository,
    entryPoints: {
      roost: 'packages/cli/src/roost.ts',
      node: 'packages/node/src/main.ts',
      keeper: 'packages/keeper/src/main.ts',
    },
    outdir: join(directory, 'dist'),
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: ['@lydell/node-pty', 'libsql', 'bufferutil', 'utf-8-validate'],
    define: { 'process.env.ROOST_VERSION': '"0.0.0"' },
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    logLevel: 'error',
  });
  return {
    directory,
    script: join(directory, 'dist', 'roost.js'),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}
