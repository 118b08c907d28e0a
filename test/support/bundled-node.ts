/** Bundles node, keeper and what a hub stores once for a whole run, for the tests that start them from their sources. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Directory with node.js, keeper.js, node-at-fault.js and hub-writer.js. */
    bundledNode: string;
  }
}

const repository = fileURLToPath(new URL('../../', import.meta.url));

export default async function bundleNode(project: TestProject): Promise<() => void> {
  const cache = join(repository, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(join(cache, 'roost-node-test-'));
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ type: 'module' }));
  await bundle(directory);
  // Watched tests run what was just written.
  project.onTestsRerun(() => bundle(directory));
  project.provide('bundledNode', directory);
  return () => {
    rmSync(directory, { recursive: true, force: true });
  };
}

async function bundle(directory: string): Promise<void> {
  await build({
    entryPoints: {
      node: join(repository, 'packages/node/src/main.ts'),
      keeper: join(repository, 'packages/keeper/src/main.ts'),
      'node-at-fault': join(repository, 'packages/node/src/node-at-fault-for-test.ts'),
      hub: join(repository, 'packages/hub/src/main.ts'),
      'hub-writer': join(repository, 'packages/hub/src/hub-writer-for-test.ts'),
    },
    outdir: directory,
    bundle: true,
    platform: 'node',
    format: 'esm',
    // As scripts/source-conditions.mjs has them.
    conditions: ['roost-source', 'module'],
    target: 'node20',
    external: ['@lydell/node-pty', 'libsql'],
    define: { 'process.env.ROOST_VERSION': '"0.0.0-test"' },
    banner: {
      js: "import { createRequire as __r } from 'node:module'; const require = __r(import.meta.url);",
    },
    logLevel: 'error',
  });
}
