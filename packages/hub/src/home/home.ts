// Makes the directory of the hub usable, or says why it is not. Nothing that exists is removed; permissions are only tightened.
import { accessSync, chmodSync, constants, lstatSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { FailureError } from '@roost/protocol';
import { systemErrorCode } from '@roost/storage';
import { hubPaths, type HubPaths } from './paths.ts';

const OTHERS_MASK = 0o077;

/** @throws FailureError: home-unusable, home-path-too-long, storage-full. */
export function prepareHome(home: string): HubPaths {
  const wanted = hubPaths(resolve(home));
  makeDirectory(wanted.home);
  const paths = hubPaths(realpathSync(wanted.home));
  for (const path of [paths.home, paths.logs]) {
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
    throw unusable(path, 'it cannot be made', cause);
  }
}

function ensureOurs(path: string): void {
  if (!lstatSync(path).isDirectory()) throw unusable(path, 'it is not a directory');
  const { uid, mode } = statSync(path);
  if (process.getuid !== undefined && uid !== process.getuid())
    throw unusable(path, 'it belongs to another user');
  try {
    if ((mode & OTHERS_MASK) !== 0) chmodSync(path, 0o700);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw unusable(path, 'it is not writable, or others can read it', cause);
  }
}

function unusable(path: string, reason: string, cause?: unknown): FailureError {
  return new FailureError('home-unusable', { path, reason }, { cause });
}
