// Makes the state directory usable, or says why it is not. Nothing that exists is removed; permissions are only tightened.
import { accessSync, chmodSync, constants, lstatSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { FailureError } from '@roost/protocol';
import { systemErrorCode } from '@roost/storage';
import { checkSocketPaths, homePaths, type HomePaths } from './paths.ts';

const OTHERS_MASK = 0o077;

export function prepareHome(home: string): HomePaths {
  const wanted = homePaths(resolve(home));
  checkSocketPaths(wanted);
  makeDirectory(wanted.home);
  const paths = homePaths(realpathSync(wanted.home));
  checkSocketPaths(paths);
  for (const path of [paths.home, paths.keepers, paths.sessions, paths.logs]) {
    makeDirectory(path);
    ensureOurs(path);
  }
  return paths;
}

function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (cause) {
    if (systemErrorCode(cause) === 'ENOSPC') throw new FailureError('storage-full', { path }, { cause });
    throw new FailureError('home-unusable', { path, reason: 'it cannot be made' }, { cause });
  }
}

function ensureOurs(path: string): void {
  const refuse = (reason: string, cause?: unknown) =>
    new FailureError('home-unusable', { path, reason }, { cause });
  if (!lstatSync(path).isDirectory()) throw refuse('it is not a directory');
  const { uid, mode } = statSync(path);
  if (process.getuid !== undefined && uid !== process.getuid()) throw refuse('it belongs to another user');
  if ((mode & OTHERS_MASK) !== 0) {
    try {
      chmodSync(path, 0o700);
    } catch (cause) {
      throw refuse('others can read it, and that cannot be changed', cause);
    }
    if ((statSync(path).mode & OTHERS_MASK) !== 0)
      throw refuse('others can read it, and that cannot be changed');
  }
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw refuse('it is not writable', cause);
  }
}
