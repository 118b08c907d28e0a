// Bundles the web UI that the hub serves: files whose names change with their content, and the page that names them.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip as gzipWithCallback } from 'node:zlib';
import { build } from 'esbuild';
import { directImports } from './direct-imports.mjs';
import { SOURCE_CONDITIONS } from './source-conditions.mjs';

const gzip = promisify(gzipWithCallback);

const SOURCE = 'packages/web';
const MAIN = `${SOURCE}/src/main.tsx`;
export const WEB_DIRECTORY = 'packages/cli/dist/web';

/** Answers what was written, relative to the root. */
export async function buildWeb(root) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { index: MAIN },
    outdir: WEB_DIRECTORY,
    tsconfig: `${SOURCE}/tsconfig.json`,
    bundle: true,
    splitting: true,
    format: 'esm',
    conditions: SOURCE_CONDITIONS,
    plugins: [
      directImports(['@mantine/core'], /(?:packages\/web\/src|@mantine\/spotlight)\/.*\.(?:tsx?|mjs)$/),
    ],
    target: 'es2023',
    minify: true,
    entryNames: 'assets/[name]-[hash]',
    chunkNames: 'assets/[name]-[hash]',
    assetNames: 'assets/[name]-[hash]',
    define: { 'process.env.NODE_ENV': '"production"' },
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
  });
  const icon = await copyHashed(root, `${SOURCE}/src/icon.svg`, 'icon', '.svg');
  const names = Object.keys(metafile.outputs).map((path) => path.slice(WEB_DIRECTORY.length + 1));
  const entry = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === MAIN)[0];
  const style = await joinStyles(root, metafile, entry);
  const page = (await readFile(join(root, SOURCE, 'index.html'), 'utf8'))
    .replace('%icon%', icon)
    .replace('%style%', style)
    .replace('%entry%', nameOf(entry))
    .replace(
      '<!-- preloads -->',
      importsOf(metafile, entry)
        .map((path) => `<link rel="modulepreload" href="/${nameOf(path)}" />`)
        .join('\n    '),
    );
  // After what it names: whoever opens it meanwhile finds everything.
  await writeFile(join(root, WEB_DIRECTORY, 'index.html'), page);
  const served = [...names.filter((name) => !name.endsWith('.css')), style, icon, 'index.html'];
  const packed = await Promise.all(served.map((name) => pack(root, name)));
  return [...served, ...packed].map((name) => `${WEB_DIRECTORY}/${name}`);
}

const nameOf = (path) => path.slice(WEB_DIRECTORY.length + 1);

/** What a script needs before it runs: asked for at once, not when each is found in another. */
function importsOf({ outputs }, entry) {
  const found = new Set([entry]);
  for (const path of found) {
    for (const { path: imported, kind } of outputs[path].imports)
      if (kind === 'import-statement') found.add(imported);
  }
  return [...found].slice(1);
}

/** One file for all styles, those of parts that are loaded later too: a script that comes later does not bring its styles along. */
async function joinStyles(root, { outputs }, entry) {
  const first = outputs[entry].cssBundle;
  const paths = Object.keys(outputs).filter((path) => path.endsWith('.css') && path !== first);
  const texts = await Promise.all([first, ...paths.sort()].map((path) => readFile(join(root, path), 'utf8')));
  return writeHashed(root, Buffer.from(texts.join('')), 'style', '.css');
}

/** Beside the file, for those who take it. */
async function pack(root, name) {
  const content = await readFile(join(root, WEB_DIRECTORY, name));
  await writeFile(join(root, WEB_DIRECTORY, `${name}.gz`), await gzip(content, { level: 9 }));
  return `${name}.gz`;
}

async function copyHashed(root, source, name, ending) {
  return writeHashed(root, await readFile(join(root, source)), name, ending);
}

async function writeHashed(root, content, name, ending) {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 8);
  const target = `assets/${name}-${hash}${ending}`;
  await mkdir(join(root, WEB_DIRECTORY, 'assets'), { recursive: true });
  await writeFile(join(root, WEB_DIRECTORY, target), content);
  return target;
}
