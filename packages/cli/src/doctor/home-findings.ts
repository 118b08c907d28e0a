/** The state directory: that it is there, ours alone, and short enough for a socket in it; and what people may edit there. */
import { constants } from 'node:fs';
import { access, lstat, readFile, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { nodeSocketPath, nodeTokenPath, SOCKET_PATH_BYTES_MAX } from '@roost/client';
import type { Finding } from './examine.ts';

/** Bytes of free disk below which a busy machine soon has none. */
const FREE_BYTES_LOW = 200 * 1024 * 1024;
/** Bytes that a keeper's socket path is longer than the node's. */
const KEEPER_SOCKET_EXTRA_BYTES = '/keepers/0123456789abcdef.sock'.length - '/node.sock'.length;

export async function* examineHome(home: string): AsyncGenerator<Finding, void, void> {
  const subject = 'state directory';
  const socketBytes = Buffer.byteLength(nodeSocketPath(home)) + KEEPER_SOCKET_EXTRA_BYTES;
  if (socketBytes > SOCKET_PATH_BYTES_MAX) {
    yield {
      level: 'fail',
      subject,
      text: `${home} is ${socketBytes - SOCKET_PATH_BYTES_MAX} bytes too long for a socket in it; choose a shorter ROOST_HOME`,
    };
    return;
  }
  const found = await stat(home).catch(() => undefined);
  if (found === undefined) {
    yield { level: 'ok', subject, text: `${home} is not there yet; the first start makes it` };
    return;
  }
  if (!found.isDirectory()) {
    yield { level: 'fail', subject, text: `${home} is not a directory; choose another ROOST_HOME` };
    return;
  }
  const mayWrite = await access(home, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!mayWrite) {
    yield { level: 'fail', subject, text: `${home} cannot be written; chown or chmod it` };
  } else if ((found.mode & 0o077) !== 0) {
    yield { level: 'warn', subject, text: `others may look into ${home}; chmod 700 ${home}` };
  } else yield { level: 'ok', subject, text: home };
  yield await examineDisk(home);
  yield await examineToken(nodeTokenPath(home));
  yield await examineConfig(join(home, 'config.json'));
}

/** Whoever can read it can do everything that its owner can; a node refuses to start with one that others can read. */
async function examineToken(path: string): Promise<Finding> {
  const subject = 'token';
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined)
    return { level: 'ok', subject, text: 'not there yet; the first start of a node makes it' };
  if (!found.isFile())
    return { level: 'fail', subject, text: `${path} is not a file; remove it, then: roost up` };
  if ((found.mode & 0o077) !== 0) {
    return {
      level: 'fail',
      subject,
      text: `others may read ${path}; remove it, then: roost down && roost up`,
    };
  }
  return { level: 'ok', subject, text: `${path}, readable by its owner alone` };
}

/** That it is JSON; what a node does not understand in it, it names when it is started. */
async function examineConfig(path: string): Promise<Finding> {
  const subject = 'configuration';
  let content: string;
  try {
    content = await readFile(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    if (code === 'ENOENT') return { level: 'ok', subject, text: 'no config.json; everything by default' };
    return { level: 'fail', subject, text: `${path}: ${code}; chmod 600 ${path}` };
  }
  try {
    JSON.parse(content);
    return { level: 'ok', subject, text: path };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { level: 'fail', subject, text: `${path} is not JSON: ${reason}; the next start will be refused` };
  }
}

async function examineDisk(home: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(home);
  const free = bavail * bsize;
  const text = `${Math.floor(free / 1024 / 1024)} MB free`;
  return free < FREE_BYTES_LOW
    ? { level: 'warn', subject: 'disk', text: `${text}; a full disk refuses every change` }
    : { level: 'ok', subject: 'disk', text };
}
