// Bundles the web UI that the hub serves: files whose names change with their content, and the page that names them.
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { build } from 'esbuild';
import { SOURCE_CONDITIONS } from './source-conditions.mjs';

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
  // Styles of parts that are loaded later too: a script that comes later does not bring its styles along.
  const mainStyle = metafile.outputs[entry].cssBundle.slice(WEB_DIRECTORY.length + 1);
  const styles = [mainStyle, ...names.filter((name) => name.endsWith('.css') && name !== mainStyle).sort()];
  const page = (await readFile(join(root, SOURCE, 'index.html'), 'utf8'))
    .replace('%icon%', icon)
    .replace('%entry%', entry.slice(WEB_DIRECTORY.length + 1))
    .replace(
      '<!-- styles -->',
      styles.map((name) => `<link rel="stylesheet" href="/${name}" />`).join('\n    '),
    );
  // After what it names: whoever opens it meanwhile finds everything.
  await writeFile(join(root, WEB_DIRECTORY, 'index.html'), page);
  return [...names, icon, 'index.html'].map((name) => `${WEB_DIRECTORY}/${name}`);
}

async function copyHashed(root, source, name, ending) {
  const hash = createHash('sha256')
    .update(await readFile(join(root, source)))
    .digest('hex')
    .slice(0, 8);
  const target = `assets/${name}-${hash}${ending}`;
  await mkdir(join(root, WEB_DIRECTORY, 'assets'), { recursive: true });
  await copyFile(join(root, source), join(root, WEB_DIRECTORY, target));
  return target;
}
