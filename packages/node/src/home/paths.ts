// Where everything of one node lies. A state directory belongs to one person: 0700, and every socket in it must fit the
// kernel's limit for socket paths, which is checked before anything is made.
import { join } from 'node:path';
import { FailureError } from '@roost/protocol';

export interface HomePaths {
  readonly home: string;
  readonly lock: string;
  readonly database: string;
  readonly token: string;
  readonly config: string;
  readonly socket: string;
  readonly keepers: string;
  readonly sessions: string;
  readonly hooks: string;
  readonly spawnProfiles: string;
  readonly worktreeProfiles: string;
  readonly providers: string;
  readonly hubs: string;
  readonly logs: string;
  readonly log: string;
}

/** Bytes of a socket path without its terminating NUL: sizeof(sockaddr_un.sun_path) - 1. */
const SOCKET_PATH_BYTES_MAX = process.platform === 'linux' ? 107 : 103;

export function homePaths(home: string): HomePaths {
  return {
    home,
    lock: join(home, 'node.lock'),
    database: join(home, 'node.db'),
    token: join(home, 'node.token'),
    config: join(home, 'config.json'),
    socket: join(home, 'node.sock'),
    keepers: join(home, 'keepers'),
    sessions: join(home, 'sessions'),
    hooks: join(home, 'hooks'),
    spawnProfiles: join(home, 'profiles', 'spawn'),
    worktreeProfiles: join(home, 'profiles', 'worktree'),
    providers: join(home, 'providers'),
    hubs: join(home, 'hubs'),
    logs: join(home, 'logs'),
    log: join(home, 'logs', 'node.log'),
  };
}

function keeperSocket(paths: HomePaths, keeperId: string): string {
  return join(paths.keepers, `${keeperId}.sock`);
}

/** Refuses a home whose longest socket path the kernel would not take. */
export function checkSocketPaths(paths: HomePaths): void {
  for (const path of [paths.socket, keeperSocket(paths, '0'.repeat(16))]) {
    const length = Buffer.byteLength(path);
    if (length > SOCKET_PATH_BYTES_MAX) {
      throw new FailureError('home-path-too-long', { limit: SOCKET_PATH_BYTES_MAX, length, path });
    }
  }
}
