/**
 * Finds the node of a state directory, or starts one. Several callers may do so at once: the node's lock lets one start
 * win, and the others connect to it. A node that holds its socket without answering is reported, never replaced.
 */
import { FailureError, type Hello } from '@roost/protocol';
import { WELCOME_TIMEOUT_MS, connectNode, type NodeConnection } from './connection.ts';
import { nodeSocketPath } from './home.ts';
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
}

export interface OpenedNode {
  readonly connection: NodeConnection;
  /** Whether this call started it. */
  readonly started: boolean;
}

/** Milliseconds between looks at a node that another caller is starting or that is about to end. */
const LOOK_AGAIN_MS = 25;

export async function openNode(options: OpenNodeOptions): Promise<OpenedNode> {
  const { home, client, start, timeoutMs = WELCOME_TIMEOUT_MS } = options;
  const socketPath = nodeSocketPath(home);
  const deadline = Date.now() + (start?.waitMs ?? START_WAIT_MS);
  let started = false;
  for (;;) {
    try {
      return { connection: await connectNode({ socketPath, client, timeoutMs }), started };
    } catch (error) {
      if (start === null || !mayPass(error) || Date.now() > deadline) throw error;
    }
    try {
      await startNode({ home, ...start, waitMs: Math.max(1, deadline - Date.now()) });
      started = true;
    } catch (error) {
      if (!isFailure(error, 'node-already-running') || Date.now() > deadline) throw error;
      // Another start won, or a node is ending and still holds the lock.
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    }
  }
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
