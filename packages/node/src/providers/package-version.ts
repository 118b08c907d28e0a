// The version of the npm package that a program belongs to: what is left to know when the program itself does not answer in time.
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { readSmallFile } from '../read-small-file.ts';

const MANIFEST_BYTES_MAX = 256 * 1024;
/** Directories from a program up to its package. */
const DEPTH_MAX = 4;

const PackageManifest = z.object({
  version: z.string().regex(/^\d{1,12}\.\d{1,12}\.\d{1,12}(-[0-9A-Za-z.-]+)?$/),
});

/** null when it belongs to none. `program`: without links. */
export function packageVersion(program: string): string | null {
  if (!program.includes('/node_modules/')) return null;
  let directory = dirname(program);
  for (let depth = 0; depth < DEPTH_MAX && !directory.endsWith('/node_modules'); depth += 1) {
    const file = readSmallFile(join(directory, 'package.json'), MANIFEST_BYTES_MAX);
    if ('content' in file) {
      const version = versionIn(file.content);
      // A package may hold a manifest of its own for a part of it, without a version.
      if (version !== null) return version;
    }
    directory = dirname(directory);
  }
  return null;
}

function versionIn(content: string): string | null {
  try {
    return PackageManifest.safeParse(JSON.parse(content)).data?.version ?? null;
  } catch {
    return null;
  }
}
