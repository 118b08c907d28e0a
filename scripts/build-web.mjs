// Bundles the web UI that the hub serves: files whose names change with their content, and the page that names them.
import { mkdir, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip as gzipWithCallback } from 'node:zlib';
import { build as bundle } from 'esbuild';
import { build, defaultClientConditions } from 'vite';
import { SOURCE_CONDITIONS } from './source-conditions.mjs';

const gzip = promisify(gzipWithCallback);

const SOURCE = 'packages/web';
const AHEAD = `${SOURCE}/src/ahead/ask-ahead.ts`;
/** Where the page has its place. */
const MARK = '<!-- ahead -->';
const TARGET = 'es2023';
export const WEB_DIRECTORY = 'packages/cli/dist/web';

/** Answers what was written, relative to the root. */
export async function buildWeb(root) {
  // Of libraries that have two builds, and whatever the shell says.
  process.env.NODE_ENV = 'production';
  const { output } = await build({
    root: join(root, SOURCE),
    configFile: false,
    logLevel: 'warn',
    resolve: { conditions: [...SOURCE_CONDITIONS, ...defaultClientConditions] },
    esbuild: { legalComments: 'none' },
    // No configuration from above the repository.
    css: { postcss: {} },
    plugins: [await aheadOfAll(root)],
    build: {
      write: false,
      target: TARGET,
      // One file for all styles: less to ask for, and no part of the page waits for its own.
      cssCodeSplit: false,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      chunkSizeWarningLimit: 1_000,
      rollupOptions: { onwarn: exceptOf(['MODULE_LEVEL_DIRECTIVE', 'INVALID_ANNOTATION']) },
    },
  });
  // The page after what it names: whoever opens it meanwhile finds everything.
  const isPage = ({ fileName }) => fileName.endsWith('.html');
  const written = [];
  for (const file of [...output.filter((one) => !isPage(one)), ...output.filter(isPage)]) {
    const content = Buffer.from(file.type === 'chunk' ? file.code : file.source);
    written.push(await write(root, file.fileName, content));
    // For those who take it.
    written.push(await write(root, `${file.fileName}.gz`, await gzip(content, { level: 9 })));
  }
  return written;
}

/** A small script of its own, run before everything else: `packages/web/src/ahead`. */
async function aheadOfAll(root) {
  const { outputFiles } = await bundle({
    absWorkingDir: root,
    entryPoints: [AHEAD],
    tsconfig: `${SOURCE}/tsconfig.json`,
    bundle: true,
    write: false,
    format: 'iife',
    target: TARGET,
    minify: true,
    logLevel: 'warning',
  });
  const source = outputFiles[0].contents;
  const hash = createHash('sha256').update(source).digest('hex').slice(0, 8);
  const fileName = `assets/ahead-${hash}.js`;
  return {
    name: 'ahead-of-all',
    transformIndexHtml(page) {
      if (!page.includes(MARK)) throw new Error(`the page has no ${MARK}`);
      return page.replace(MARK, `<script src="/${fileName}"></script>`);
    },
    generateBundle() {
      this.emitFile({ type: 'asset', fileName, source });
    },
  };
}

/** Libraries have words for servers and for other bundlers. */
function exceptOf(codes) {
  return (warning, warn) => {
    if (!codes.includes(warning.code)) warn(warning);
  };
}

async function write(root, name, content) {
  const path = `${WEB_DIRECTORY}/${name}`;
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), content);
  return path;
}
