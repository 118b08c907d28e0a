// Where things are in the directory of a hub.
import { join } from 'node:path';
import { FailureError } from '@roost/protocol';

/** Bytes of a socket path without its terminating NUL: sizeof(sockaddr_un.sun_path) - 1. */
const SOCKET_PATH_BYTES_MAX = process.platform === 'linux' ? 107 : 103;

export interface HubPaths {
  readonly home: string;
  readonly config: string;
  readonly database: string;
  readonly lock: string;
  readonly socket: string;
  readonly logs: string;
  readonly log: string;
}

/** @throws FailureError: home-path-too-long. */
export function hubPaths(home: string): HubPaths {
  const logs = join(home, 'logs');
  const socket = join(home, 'hub.sock');
  if (Buffer.byteLength(socket) > SOCKET_PATH_BYTES_MAX)
    throw new FailureError('home-path-too-long', { path: socket, limit: SOCKET_PATH_BYTES_MAX });
  return {
    home,
    config: join(home, 'config.json'),
    database: join(home, 'hub.db'),
    lock: join(home, 'hub.lock'),
    socket,
    logs,
    log: join(logs, 'hub.log'),
  };
}
