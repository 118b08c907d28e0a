// A process that does nothing but swap names for links and back, as fast as it can: `path-swapper.mjs PLAN`, a JSON list of
// {kind, ...}. Says `ready` once it has begun; ends when its standard input does, and leaves everything as it was.
import { setImmediate } from 'node:timers';
import { linkSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const plan = JSON.parse(process.argv[2]);
let over = false;
process.stdin.on('end', () => (over = true)).resume();

const tryTo = (work) => {
  try {
    work();
  } catch {
    // The other side was quicker.
  }
};

const kinds = {
  /** `path` becomes a link to `to`, then itself again. */
  link({ path, to, aside }) {
    renameSync(path, aside);
    symlinkSync(to, path);
    rmSync(path);
    renameSync(aside, path);
  },
  /** `path` is moved to `to` and back. */
  move({ path, to }) {
    renameSync(path, to);
    renameSync(to, path);
  },
  /** `path` becomes a link to `to` and is left so until somebody replaces it; then it is made anew as another name of `file`. */
  name({ path, to, aside }) {
    tryTo(() => symlinkSync(to, aside));
    tryTo(() => renameSync(aside, path));
    tryTo(() => rmSync(path));
    tryTo(() => linkSync(to, path));
    tryTo(() => rmSync(path));
  },
  /** Whatever is being prepared in `path` becomes a link to `to`. */
  prepared({ path, to }) {
    for (const name of readdirSync(path)) {
      if (!name.startsWith('.roost-save-')) continue;
      tryTo(() => rmSync(join(path, name)));
      tryTo(() => symlinkSync(to, join(path, name)));
    }
  },
};

function swap() {
  for (let count = 0; count < 50; count += 1) for (const one of plan) kinds[one.kind](one);
  if (!over) setImmediate(swap);
}

process.stdout.write('ready\n');
swap();
