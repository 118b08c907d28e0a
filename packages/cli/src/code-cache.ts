/**
 * Compiling the program's text is most of what a command costs, so the engine's compiled form is kept beside it: a listing
 * takes 1.7 times as long as an empty Node program with it, 2.4 times without. The file is written by the first command that finds none; where that is not possible (an installation of somebody else's), every
 * command compiles. Its name holds what it was made from, because the engine itself compares little more than lengths.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { Script } from 'node:vm';

type ModuleWrapper = (
  exports: object,
  require: NodeJS.Require,
  module: { exports: object },
  filename: string,
  directory: string,
) => void;

/** Runs a CommonJS file, by its compiled form where there is one. `contentHash` names the file's content. */
export function loadCached(filename: string, contentHash: string): object {
  const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(filename, 'utf8')}\n})`;
  const cacheName = filename.replace(/\.[^.]+$/, `-${contentHash}-${process.version}-${process.arch}.cache`);
  const cachedData = readCache(cacheName);
  const script = new Script(source, {
    filename,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  if (cachedData === undefined || script.cachedDataRejected === true) {
    // At the end, when the functions that the command used are compiled.
    process.once('exit', () => writeCache(cacheName, script));
  }
  const module = { exports: {} };
  const wrapper = script.runInThisContext() as ModuleWrapper;
  wrapper(module.exports, createRequire(filename), module, filename, dirname(filename));
  return module.exports;
}

function readCache(name: string): Buffer | undefined {
  try {
    return readFileSync(name);
  } catch {
    return undefined;
  }
}

function writeCache(name: string, script: Script): void {
  const partial = `${name}.${process.pid}`;
  try {
    writeFileSync(partial, script.createCachedData(), { flag: 'wx' });
    renameSync(partial, name);
  } catch {
    // Not ours to write: the next command compiles again.
  }
}
