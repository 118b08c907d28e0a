import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

/** As seen from the bundled program, `bench/dist/run.js`. */
const WEB = fileURLToPath(new URL('../../packages/cli/dist/web', import.meta.url));
/** What the page loads at once: its scripts, and the modules that they will ask for. */
const FIRST = /<(?:script|link rel="modulepreload")[^>]* (?:src|href)="\/?([^"]+\.js)"/g;

/** Bytes of compressed JavaScript before the web UI shows anything; null where it is not built. */
export function firstViewBytes(): number | null {
  const page = join(WEB, 'index.html');
  if (!existsSync(page)) return null;
  const names = [...readFileSync(page, 'utf8').matchAll(FIRST)].map(([, name = '']) => name);
  return names.reduce((sum, name) => sum + gzipSync(readFileSync(join(WEB, name))).length, 0);
}
