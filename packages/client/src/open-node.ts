/**
 * Finds the node of a state directory, or starts one. Several callers may do so at once: the node's lock lets one start
 * win, and the others connect to it. A node that holds its socket without answering is reported, never replaced.
 */
import { FailureError, type Hello, type Role } from '@roost/protocol';
import { READY_TIMEOUT_MS, connectNode, type NodeConnection } from './connection.ts';
import { nodeSocketPath } from './home.ts';
import { RetryPause } from './retry.ts';
import { START_WAIT_MS, startNode } from './start-node.ts';

export interface OpenNodeOptions {
  readonly home: string;
  readonly client: Hello['client'];
  /** How to start a node when none runs; null to fail with `node-not-running` instead. */
  readonly start: {
    readonly script: string;
    readonly waitMs?: number;
    readonly env?: Readonly<Record<string, string | undefined>>;
  } | null;
  readonly timeoutMs?: number;
  readonly role?: Role;
  /** Milliseconds to wait while the node is full or about to end. */
  readonly waitMs?: number;
}

export interface OpenedNode {
  readonly connection: NodeConnection;
  /** Whether this call started it. */
  readonly started: boolean;
}

/** Milliseconds between looks at a node that another caller is starting or that is about to end. */
const LOOK_AGAIN_MS = 25;
/** Milliseconds to wait for a node that is full or about to end, unless the caller says otherwise: commands are short. */
const BUSY_WAIT_MS = 2_000;

export async function openNode(options: OpenNodeOptions): Promise<OpenedNode> {
  const { home, client, start, role, timeoutMs = READY_TIMEOUT_MS, waitMs = BUSY_WAIT_MS } = options;
  const target = {
    socketPath: nodeSocketPath(home),
    client,
    timeoutMs,
    ...(role === undefined ? {} : { role }),
  };
  const startDeadline = Date.now() + (start?.waitMs ?? START_WAIT_MS);
  const busyDeadline = Date.now() + waitMs;
  const pause = new RetryPause();
  let started = false;
  for (;;) {
    try {
      return { connection: await connectNode(target), started };
    } catch (error) {
      if (isBusy(error, start !== null) && Date.now() < busyDeadline) {
        await pause.wait(Math.max(1, busyDeadline - Date.now()));
        continue;
      }
      if (start === null || !mayPass(error) || Date.now() > startDeadline) throw error;
    }
    try {
      await startNode({ home, ...start, waitMs: Math.max(1, startDeadline - Date.now()) });
      started = true;
    } catch (error) {
      if (!isFailure(error, 'node-already-running') || Date.now() > startDeadline) throw error;
      // Another start won, or a node is ending and still holds the lock.
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    }
  }
}

/** Full, or about to end while nobody may start the next one. */
function isBusy(error: unknown, mayStart: boolean): boolean {
  return isFailure(error, 'connections-exhausted') || (!mayStart && isFailure(error, 'shutting-down'));
}

/** Nobody listens, or whoever did went away during the handshake. */
function mayPass(error: unknown): boolean {
  return (
    isFailure(error, 'node-not-running') ||
    isFailure(error, 'connection-lost') ||
    isFailure(error, 'shutting-down')
  );
}

function isFailure(error: unknown, code: FailureError['failure']['code']): error is FailureError {
  return error instanceof FailureError && error.failure.code === code;
}
