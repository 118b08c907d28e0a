/**
 * Opens a Unix socket and names what goes wrong. The length is checked first: the kernel's limit is small, and some
 * runtimes cut a longer path silently and then connect to another one.
 */
import { createConnection, type Socket } from 'node:net';
import { FailureError } from '@roost/protocol';
import { SOCKET_PATH_BYTES_MAX } from './home.ts';

export function assertSocketPath(path: string): void {
  const length = Buffer.byteLength(path);
  if (length > SOCKET_PATH_BYTES_MAX) {
    throw new FailureError('home-path-too-long', { path, length, limit: SOCKET_PATH_BYTES_MAX });
  }
}

/** Resolves with a connected socket; rejects with the system's error, or when `timeoutMs` is over. */
export function openSocket(path: string, timeoutMs: number): Promise<Socket> {
  assertSocketPath(path);
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    const timer = setTimeout(
      () => socket.destroy(new Error(`no connection within ${timeoutMs} ms`)),
      timeoutMs,
    );
    const onError = (error: Error) => {
      clearTimeout(timer);
      reject(error);
    };
    socket.once('error', onError);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', onError);
      resolve(socket);
    });
  });
}

/** Whether the error of a connect means that nobody listens there. */
export function meansNobodyListens(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ENOTDIR' || code === 'ENOTSOCK';
}

/** `EACCES` and the like, when the error comes from the system. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
