/**
 * Where a node keeps its state, where it listens, and where its token is. Every process that looks for a node computes them
 * from here, so that one state directory always means one socket and one token.
 */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** Bytes of a Unix socket path that every supported kernel takes: 104 (BSD, macOS) minus the closing NUL; Linux has 108. */
export const SOCKET_PATH_BYTES_MAX = process.platform === 'linux' ? 107 : 103;

/** The state directory: `ROOST_HOME`, else `.roost` in the home directory. Always absolute. */
export function resolveHome(env: Readonly<Record<string, string | undefined>>): string {
  const named = env.ROOST_HOME;
  if (named !== undefined && named !== '') return resolve(named);
  const home = env.HOME;
  return join(home !== undefined && home !== '' ? resolve(home) : homedir(), '.roost');
}

/** The socket of the node of this state directory. */
export function nodeSocketPath(home: string): string {
  return join(home, 'node.sock');
}

/** The file that holds the operator's token of that node. */
export function nodeTokenPath(home: string): string {
  return join(home, 'node.token');
}

/** The directory of the hub on this machine. */
export function hubHomePath(home: string): string {
  return join(home, 'hub');
}

/** The socket of its owner. */
export function hubSocketPath(home: string): string {
  return join(hubHomePath(home), 'hub.sock');
}
