// Bundles what runs as a process. Takes well under two seconds, so nothing is incremental and nothing can be stale.
import { readdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { readFileSync, existsSync } from 'node:fs';
import { build } from 'esbuild';

const { version } = JSON.parse(
  readFileSync(new URL('../packages/cli/package.json', import.meta.url), 'utf8'),
);

/** CommonJS dependencies inside an ESM bundle still call `require`. */
const requireShim =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

const shared = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  // Native parts stay packages of their own.
  external: ['@lydell/node-pty', 'libsql', 'esbuild'],
  define: { 'process.env.ROOST_VERSION': JSON.stringify(version) },
  legalComments: 'none',
  logLevel: 'warning',
  absWorkingDir: new URL('..', import.meta.url).pathname,
};

/**
 * Built-in modules that a library requires at its start and that most commands never use: loaded at their first use.
 * `https` alone costs 15 ms of a command that lives for 100.
 */
const lazyBuiltins = {
  name: 'lazy-builtins',
  setup(builder) {
    builder.onResolve({ filter: /^(https|tls|zlib)$/ }, ({ path }) => ({ path, namespace: 'lazy-builtin' }));
    builder.onLoad({ filter: /.*/, namespace: 'lazy-builtin' }, ({ path }) => ({
      contents: `module.exports = new Proxy({}, { get: (_, name) => process.getBuiltinModule('${path}')[name] });`,
      loader: 'js',
    }));
  },
};

const outputs = [
  // Split by command: a command loads only what it uses.
  {
    entryPoints: { roost: 'packages/cli/src/roost.ts' },
    outdir: 'packages/cli/dist',
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    banner: { js: '#!/usr/bin/env node' },
    minify: true,
    keepNames: true,
    external: [...shared.external, 'bufferutil', 'utf-8-validate'],
    plugins: [lazyBuiltins],
    needsRequire: true,
  },
  {
    entryPoints: { node: 'packages/node/src/main.ts', keeper: 'packages/keeper/src/main.ts' },
    outdir: 'packages/cli/dist',
    needsRequire: true,
  },
  {
    entryPoints: {
      'lab-agent': 'packages/lab/src/lab-agent.ts',
      'mock-server': 'packages/lab/src/mock-server.ts',
    },
    outdir: 'packages/lab/dist',
    needsRequire: true,
  },
  { entryPoints: { run: 'bench/run.ts' }, outdir: 'bench/dist', needsRequire: true },
];

const built = await Promise.all(
  outputs
    .filter(({ entryPoints }) => Object.values(entryPoints).some((file) => existsSync(file)))
    .map(({ needsRequire, banner, ...options }) => {
      const present = Object.fromEntries(
        Object.entries(options.entryPoints).filter(([, file]) => existsSync(file)),
      );
      const js = [banner?.js, needsRequire ? requireShim : undefined].filter(Boolean).join('\n');
      return build({ ...shared, ...options, entryPoints: present, banner: { js }, metafile: true });
    }),
);

// Written in place, leftovers removed after: whoever runs the old build meanwhile never finds it missing.
const current = new Set(built.flatMap(({ metafile }) => Object.keys(metafile.outputs)));
for (const { outdir } of outputs) {
  const names = await readdir(outdir, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of names.filter((one) => one.isFile())) {
    const path = relative(shared.absWorkingDir, join(entry.parentPath, entry.name));
    if (!current.has(path)) await rm(join(shared.absWorkingDir, path), { force: true });
  }
}
