/** The hub that one is logged in at: `login.json` in the state directory, readable by its owner alone. */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import * as z from 'zod';
import { FailureError } from '@roost/protocol';
import { loginPath } from './login-path.ts';

export const HubLogin = z.strictObject({
  url: z.string(),
  token: z.string(),
  fingerprint: z.string().nullable(),
});
export type HubLogin = z.infer<typeof HubLogin>;

const OTHERS_MASK = 0o077;

/** null when one is not logged in. @throws FailureError: home-unusable. */
export function readLogin(home: string): HubLogin | null {
  const path = loginPath(home);
  let text: string;
  try {
    if ((statSync(path).mode & OTHERS_MASK) !== 0) {
      throw new FailureError('home-unusable', { path, reason: 'others can read it; log in anew' });
    }
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof FailureError) throw error;
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw new FailureError('home-unusable', { path, reason: 'it cannot be read' }, { cause: error });
  }
  const login = parse(text);
  if (login === null)
    throw new FailureError('home-unusable', { path, reason: 'it is no login; log in anew' });
  return login;
}

export function writeLogin(home: string, login: HubLogin): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const path = loginPath(home);
  const partial = `${path}.${process.pid}`;
  rmSync(partial, { force: true });
  const file = openSync(partial, 'wx', 0o600);
  try {
    writeSync(file, `${JSON.stringify(login, null, 2)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(partial, path);
}

export function removeLogin(home: string): void {
  rmSync(loginPath(home), { force: true });
}

function parse(text: string): HubLogin | null {
  try {
    return HubLogin.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
