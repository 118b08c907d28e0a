// Where the directories that providers name really are, as far as they are there at all.
import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, normalize } from 'node:path';
import { PATH_BYTES_MAX } from '@roost/protocol';
import { systemErrorCode } from '@roost/storage';
import { eachAtOnce } from './each-at-once.ts';

/** Known ones that are looked at again with each scan, those first that were looked at longest ago. */
const AGAIN_AT_ONCE = 64;
const LOOKS_AT_ONCE = 4;

export class Places {
  /** By the name that a provider gave; in the order of the looks. */
  readonly #known = new Map<string, string | null>();

  /** Looks where they are. */
  async learn(directories: readonly (string | null)[]): Promise<void> {
    const wanted = new Set(directories.filter((one) => one !== null));
    const unknown = [...wanted].filter((one) => !this.#known.has(one));
    const again = [...this.#known.keys()].slice(0, AGAIN_AT_ONCE);
    await eachAtOnce([...unknown, ...again], LOOKS_AT_ONCE, async (directory) => {
      const place = await canonicalPlace(directory);
      this.#known.delete(directory);
      this.#known.set(directory, place);
      return true;
    });
  }

  /** null: it is not told, or no place. */
  of(directory: string | null): string | null {
    return directory === null ? null : (this.#known.get(directory) ?? null);
  }
}

/** Without links. What is gone lies where the deepest directory above it that is left does. null: no absolute path. */
async function canonicalPlace(directory: string): Promise<string | null> {
  if (!isAbsolute(directory) || Buffer.byteLength(directory) > PATH_BYTES_MAX) return null;
  // Whoever wrote such a one meant something that we do not know.
  if (directory.split('/').includes('..') || /\p{Cc}/u.test(directory)) return null;
  let gone = '';
  for (let at = normalize(directory); ; at = dirname(at)) {
    try {
      return join(await realpath(at), gone);
    } catch (error) {
      const code = systemErrorCode(error);
      if (at === dirname(at) || (code !== 'ENOENT' && code !== 'ENOTDIR')) return null;
      gone = join(basename(at), gone);
    }
  }
}
