// Says once that something happened at the top of a working tree or in its git directory. Only a hint: what lies deeper, and what the
// system does not tell, is found by looking. One hint, then silence, so a tree in which much happens costs no more than one in which
// little does.
import { statSync, watch, type FSWatcher } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readSmallFile } from '../read-small-file.ts';

/** Bytes of the file `.git` of a linked worktree: one path. */
const GIT_FILE_BYTES_MAX = 8_192;

export class ChangeHints {
  readonly #watchers: FSWatcher[] = [];

  constructor(root: string, onHint: () => void) {
    const hint = () => {
      this.close();
      onHint();
    };
    const git = gitDirectoryOf(root);
    for (const directory of git === null ? [root] : [root, git]) {
      try {
        const watcher = watch(directory, { persistent: false }, hint);
        watcher.on('error', () => watcher.close());
        this.#watchers.push(watcher);
      } catch {
        // The system has no watches left, or none for that disk.
      }
    }
  }

  close(): void {
    for (const watcher of this.#watchers.splice(0)) watcher.close();
  }
}

/** Where HEAD and the index of a working tree lie; null when that cannot be told. */
function gitDirectoryOf(root: string): string | null {
  for (let at = root; ; at = dirname(at)) {
    const path = join(at, '.git');
    try {
      if (statSync(path).isDirectory()) return path;
      const file = readSmallFile(path, GIT_FILE_BYTES_MAX);
      const named = 'content' in file ? /^gitdir: (.+)\n?$/.exec(file.content)?.[1] : undefined;
      return named === undefined ? null : resolve(at, named);
    } catch {
      if (dirname(at) === at) return null;
    }
  }
}
