// Bundles what runs as a process in about a second, and the web UI in ten: nothing is incremental, so nothing can be stale.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { build } from 'esbuild';
import { buildWeb } from './build-web.mjs';
import { SOURCE_CONDITIONS } from './source-conditions.mjs';

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
  conditions: SOURCE_CONDITIONS,
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
  // One CommonJS file: cheaper to load than modules, and compiled ahead (packages/cli/src/code-cache.ts).
  {
    entryPoints: { program: 'packages/cli/src/program.ts' },
    outdir: 'packages/cli/dist',
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    // Code that was compiled ahead has no way to import; `require` serves.
    supported: { 'dynamic-import': false },
    minify: true,
    keepNames: true,
    external: [...shared.external, 'bufferutil', 'utf-8-validate'],
    plugins: [lazyBuiltins],
  },
  {
    entryPoints: {
      node: 'packages/node/src/main.ts',
      keeper: 'packages/keeper/src/main.ts',
      hub: 'packages/hub/src/main.ts',
    },
    outdir: 'packages/cli/dist',
    needsRequire: true,
  },
  {
    entryPoints: {
      'lab-agent': 'packages/lab/src/lab-agent.ts',
      'mock-server': 'packages/lab/src/mock-server.ts',
      capture: 'packages/lab/src/capture.ts',
    },
    outdir: 'packages/lab/dist',
    needsRequire: true,
  },
  // The SDK for programs that nobody bundles: whoever does not ask for sources gets it.
  {
    entryPoints: { index: 'packages/client/src/index.ts' },
    outdir: 'packages/client/dist',
    external: ['ws', 'zod'],
  },
  // The same for pages: one file that needs no other.
  {
    entryPoints: { browser: 'packages/client/src/browser/index.ts' },
    outdir: 'packages/client/dist',
    platform: 'browser',
    minify: true,
    keepNames: true,
    target: 'es2023',
  },
  {
    entryPoints: { run: 'bench/run.ts' },
    outdir: 'bench/dist',
    external: [...shared.external, 'axe-core', 'playwright-core'],
    needsRequire: true,
  },
];

const bundle = ({ needsRequire, banner, ...options }) =>
  build({
    ...shared,
    ...options,
    banner: { js: [banner?.js, needsRequire ? requireShim : undefined].filter(Boolean).join('\n') },
    metafile: true,
  });

const [web, ...built] = await Promise.all([buildWeb(shared.absWorkingDir), ...outputs.map(bundle)]);
const programHash = createHash('sha256')
  .update(readFileSync(new URL('../packages/cli/dist/program.cjs', import.meta.url)))
  .digest('hex')
  .slice(0, 16);
built.push(
  await bundle({
    entryPoints: { roost: 'packages/cli/src/roost.ts' },
    outdir: 'packages/cli/dist',
    define: { ...shared.define, 'process.env.ROOST_PROGRAM_HASH': JSON.stringify(programHash) },
  }),
);

// What a hub says of its API: to make it takes a second.
const API_DOCUMENT = 'packages/cli/dist/openapi.json';
const document = await readFile(join(shared.absWorkingDir, 'docs/openapi.json'), 'utf8');
await writeFile(join(shared.absWorkingDir, API_DOCUMENT), JSON.stringify(JSON.parse(document)));

// Written in place, leftovers removed after: whoever runs the old build meanwhile never finds it missing.
const current = new Set([
  ...web,
  API_DOCUMENT,
  ...built.flatMap(({ metafile }) => Object.keys(metafile.outputs)),
]);
for (const { outdir } of outputs) {
  const names = await readdir(outdir, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of names.filter((one) => one.isFile())) {
    const path = relative(shared.absWorkingDir, join(entry.parentPath, entry.name));
    if (!current.has(path)) await rm(join(shared.absWorkingDir, path), { force: true });
  }
}
