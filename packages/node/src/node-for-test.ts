// For tests only: real nodes (in this process or as processes) with real keepers in temporary homes, a bare client for them, and
// the certainty that nothing is left running.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inject } from 'vitest';
import WebSocket from 'ws';
import {
  FailureError,
  OFFERED_CAPABILITIES,
  PROTOCOL_MAX,
  PROTOCOL_MIN,
  type Hello,
  type NodeEvent,
  type NodeFrame,
  type OperationName,
  type ParamsInput,
  type Ready,
  type Result,
  type Role,
} from '@roost/protocol';
import { makeNonce, makeProof, parseToken } from '@roost/protocol/node';
import { processStart } from '@roost/keeper/processes';
import { startDaemon, type Daemon, type DaemonOptions } from './daemon.ts';

/** Put there by test/support/bundled-node.ts. */
const bundles = inject('bundledNode');
export const bundledKeeper = join(bundles, 'keeper.js');

/** A temporary home; `remove` ends its keepers with all their children. */
export class TestHome {
  readonly path: string;

  constructor() {
    this.path = mkdtempSync(join(tmpdir(), 'roost-node-'));
  }

  get keepers(): { id: string; pid: number }[] {
    const directory = join(this.path, 'keepers');
    let names: string[];
    try {
      names = readdirSync(directory).filter((name) => name.endsWith('.json'));
    } catch {
      return [];
    }
    return names.flatMap((name) => {
      const identity = readIdentity(join(directory, name));
      const runs = identity !== null && processStart(identity.pid) === identity.processStart;
      return runs ? [{ id: name.slice(0, 16), pid: identity.pid }] : [];
    });
  }

  async remove(): Promise<void> {
    for (const { pid } of this.keepers) {
      process.kill(pid, 'SIGCONT');
      process.kill(pid, 'SIGTERM');
    }
    await waitFor(() => this.keepers.length === 0, 'keepers to end');
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** null while it is being written, or when it has just gone. */
function readIdentity(path: string): { pid: number; processStart: string } | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as { pid: number; processStart: string };
  } catch {
    return null;
  }
}

export function startTestNode(home: TestHome, options: Partial<DaemonOptions> = {}): Promise<Daemon> {
  return startDaemon({
    home: home.path,
    version: '0.0.0-test',
    keeperScript: bundledKeeper,
    environment: { PATH: process.env.PATH, HOME: home.path },
    logLevel: 'debug',
    keepersMax: 2,
    checkResults: true,
    ...options,
  });
}

export interface NodeProcess {
  readonly child: ChildProcess;
  /** The line that it told about its start. */
  readonly told: { ready?: true; failure?: { code: string; details?: Record<string, unknown> } };
  readonly exit: Promise<{ code: number | null; signal: string | null }>;
}

export async function startNodeProcess(home: string, path = process.env.PATH): Promise<NodeProcess> {
  return startScript('node.js', home, ['--ready-fd', '3'], path);
}

/** A node that kills itself (SIGKILL) as soon as it comes to that moment (see `fault-points.ts`). */
export async function startNodeThatEndsAt(
  home: string,
  point: string,
  path = process.env.PATH,
): Promise<NodeProcess> {
  return startScript('node-at-fault.js', home, ['--at', point], path);
}

async function startScript(
  name: string,
  home: string,
  args: readonly string[],
  path = process.env.PATH,
): Promise<NodeProcess> {
  const script = join(bundles, name);
  const child = spawn(process.execPath, [script, '--home', home, ...args], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    env: { PATH: path, HOME: home, ROOST_PROCESS: 'node', ROOST_LOG: 'debug' },
  });
  const exit = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  let text = '';
  for await (const chunk of child.stdio[3] as AsyncIterable<Buffer>) text += chunk.toString();
  return { child, told: JSON.parse(text === '' ? '{}' : text) as NodeProcess['told'], exit };
}

export interface TestClientOptions {
  readonly capabilities?: readonly string[];
  readonly role?: Role;
  readonly clientName?: string;
  readonly protocol?: { readonly min: number; readonly max: number };
  /** Which token; by default the one beside the socket. */
  readonly token?: string;
}

/** A client that knows frames and nothing else. */
export class TestClient {
  readonly socket: WebSocket;
  readonly events: NodeEvent[] = [];
  readonly frames: NodeFrame[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  /** Takes the controller lease briefly for each request; null counts on `controller.acquire`. */
  lease: 'brief' | null = 'brief';
  ready!: Ready;
  readonly #waiting = new Map<number, (frame: NodeFrame) => void>();
  #next = 1;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
  }

  /** `place`: path of a Unix socket, or HOST:PORT. */
  static async connect(place: string, options: TestClientOptions = {}): Promise<TestClient> {
    const url = place.startsWith('/') ? `ws+unix://${place}:/` : `ws://${place}/`;
    const socket = new WebSocket(url, { perMessageDeflate: false });
    const client = new TestClient(socket);
    const role = options.role ?? 'operator';
    const hello: Hello = {
      kind: 'hello',
      role,
      nonce: makeNonce(),
      protocol: options.protocol ?? { min: PROTOCOL_MIN, max: PROTOCOL_MAX },
      capabilities: [...(options.capabilities ?? OFFERED_CAPABILITIES)],
      client: { name: options.clientName ?? 'test', version: '0' },
    };
    const helloText = JSON.stringify(hello);
    const token = parseToken(options.token ?? readFileSync(join(dirname(place), 'node.token'), 'utf8'));
    if (token === null) throw new Error('no token');
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject);
      socket.on('open', () => socket.send(helloText));
      socket.on('message', (data: Buffer) => {
        const frame = JSON.parse(data.toString()) as NodeFrame;
        client.frames.push(frame);
        if (frame.kind === 'challenge') {
          const selection = Buffer.from(frame.selection);
          const proof = makeProof({
            token,
            role,
            direction: 'client',
            hello: Buffer.from(helloText),
            selection,
          });
          socket.send(JSON.stringify({ kind: 'authenticate', proof }));
        } else if (frame.kind === 'ready') {
          client.ready = frame;
          resolve();
        } else if (frame.kind === 'refused') reject(FailureError.from(frame.failure));
        else if (frame.kind === 'event') client.events.push(frame.event);
        else if (frame.kind === 'response' || frame.kind === 'failure')
          client.#waiting.get(frame.id)?.(frame);
      });
      socket.on('close', () => {
        reject(new FailureError('connection-lost'));
        for (const answer of client.#waiting.values()) {
          answer({ kind: 'failure', id: 0, failure: { code: 'connection-lost', message: 'closed' } });
        }
      });
    });
    return client;
  }

  call<Name extends OperationName>(
    operation: Name,
    params: ParamsInput<Name>,
    deadlineMs?: number,
  ): Promise<Result<Name>> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, (frame) => {
        this.#waiting.delete(id);
        if (frame.kind === 'response') resolve(frame.result as Result<Name>);
        else if (frame.kind === 'failure') reject(FailureError.from(frame.failure));
      });
      const lease = this.lease === null ? {} : { lease: this.lease };
      this.socket.send(JSON.stringify({ kind: 'request', id, operation, params, deadlineMs, ...lease }));
    });
  }

  close(): void {
    this.socket.close();
  }
}

/** Waits for a condition, with a deadline that tells what was waited for. */
export async function waitFor(
  condition: () => boolean | Promise<boolean>,
  what: string,
  timeoutMs = 15_000,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`gave up waiting for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The code of the failure that a promise ends with. */
export async function failureOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof FailureError) return error.failure.code;
    throw error;
  }
  throw new Error('it did not fail');
}
