// Takes the pictures of docs/img: `npm run screenshots [-- HOME]`. HOME is a directory that does not exist yet, in which the demo lives and
// whose name is seen in some of the pictures; a temporary one unless given.
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { SOURCE_CONDITIONS } from './source-conditions.mjs';

const root = new URL('..', import.meta.url).pathname;
const outfile = `${root}scripts/dist/screenshots.js`;

/** CommonJS dependencies inside an ESM bundle still call `require`. */
const REQUIRE =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

await build({
  entryPoints: [`${root}scripts/screenshots/take.ts`],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  conditions: SOURCE_CONDITIONS,
  target: 'node20',
  external: ['playwright-core', '@lydell/node-pty', 'bufferutil', 'utf-8-validate'],
  banner: { js: REQUIRE },
  logLevel: 'warning',
});
await import(pathToFileURL(outfile).href);
