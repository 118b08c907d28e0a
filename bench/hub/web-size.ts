import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

/** As seen from the bundled program, `bench/dist/run.js`. */
const WEB = fileURLToPath(new URL('../../packages/cli/dist/web', import.meta.url));
const SCRIPT = /<script[^>]* src="\/([^"]+\.js)"/g;
/** Not `import(...)`, which is for later. */
const IMPORT = /(?:\bfrom|\bimport)\s*"(\.[^"]+\.js)"/g;

/** Bytes of compressed JavaScript before the web UI shows anything; null where it is not built. */
export function firstViewBytes(): number | null {
  const page = join(WEB, 'index.html');
  if (!existsSync(page)) return null;
  const scripts = [...readFileSync(page, 'utf8').matchAll(SCRIPT)].map(([, name = '']) => join(WEB, name));
  const loaded = new Set<string>();
  for (let file = scripts.pop(); file !== undefined; file = scripts.pop()) {
    if (loaded.has(file)) continue;
    loaded.add(file);
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(IMPORT))
      scripts.push(join(dirname(file), name));
  }
  return [...loaded].reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0);
}
