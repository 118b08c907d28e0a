/**
 * The node's side of the keeper wire: dial, call, listen; and starting a keeper as a process of its own. Everything a
 * keeper says is of the same build family and the same user, yet sizes and kinds are checked before use.
 */
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { encodeJsonFrame, FrameReader } from '@roost/protocol/terminal-frames';
import { decodePipeOutput } from './pipe-output-frame.ts';
import {
  KEEPER_FRAME_BYTES_MAX,
  KEEPER_WIRE_MAX,
  KEEPER_WIRE_MIN,
  KeeperFrameKind,
  type ChildState,
  type KeeperCall,
  type KeeperCalls,
  type KeeperEvent,
  type KeeperReply,
  type KeeperWelcome,
  type PipeStream,
} from './wire.ts';

/** Nobody answers at that socket (yet, or any more). `code` is the system's, such as ENOENT or ECONNREFUSED. */
export class KeeperUnreachable extends Error {
  override readonly name = 'KeeperUnreachable';
  readonly code: string;
  constructor(code: string, cause?: unknown) {
    super(`keeper unreachable: ${code}`, { cause });
    this.code = code;
  }
}

/** The keeper shares no version of the wire with this build. */
export class KeeperIncompatible extends Error {
  override readonly name = 'KeeperIncompatible';
}

/** The connection ended before the answer came; the call may have landed. */
export class KeeperGone extends Error {
  override readonly name = 'KeeperGone';
}

/** The keeper refused: `code` is one of the protocol's closed list. */
export class KeeperFailure extends Error {
  override readonly name = 'KeeperFailure';
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;
  constructor(code: string, details: Readonly<Record<string, unknown>> = {}) {
    super(`keeper refused: ${code}`);
    this.code = code;
    this.details = details;
  }
}

export interface KeeperConnection {
  readonly welcome: KeeperWelcome;
  /** Rejects with `KeeperFailure`, `KeeperGone`, or after `timeoutMs` with `KeeperUnreachable` ("ETIMEDOUT"). */
  call<Call extends KeeperCall>(
    call: Call,
    params: KeeperCalls[Call]['params'],
    options?: { timeoutMs?: number },
  ): Promise<KeeperCalls[Call]['result']>;
  onEvent(listener: (state: ChildState) => void): void;
  onPipeOutput(
    listener: (sessionId: string, stream: PipeStream, offset: number, bytes: Uint8Array) => void,
  ): void;
  /** Called once, also when `close` was called here. */
  onClose(listener: () => void): void;
  close(): void;
}

type FromKeeper = KeeperWelcome | { kind: 'refused'; reason: string } | KeeperReply | KeeperEvent;

/** @throws KeeperUnreachable, KeeperIncompatible */
export async function connectKeeper(
  socketPath: string,
  options: { timeoutMs: number },
): Promise<KeeperConnection> {
  const socket = createConnection(socketPath);
  const reader = new FrameReader(KEEPER_FRAME_BYTES_MAX);
  return new Promise((resolve, reject) => {
    let link: KeeperLink | null = null;
    const timer = setTimeout(() => {
      fail(new KeeperUnreachable('ETIMEDOUT'));
    }, options.timeoutMs);
    const fail = (error: Error) => {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    };
    socket.on('connect', () => {
      const wire = { min: KEEPER_WIRE_MIN, max: KEEPER_WIRE_MAX };
      socket.write(encodeJsonFrame(KeeperFrameKind.control, { kind: 'hello', wire }));
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      fail(new KeeperUnreachable(error.code ?? 'EIO', error));
    });
    socket.on('close', () => {
      fail(new KeeperUnreachable('ECONNRESET'));
      link?.closed();
    });
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const frame of reader.push(chunk)) {
          if (link !== null) link.receive(frame.kind, frame.payload);
          else if (frame.kind === KeeperFrameKind.control) {
            const message = parse(frame.payload);
            if (message.kind === 'welcome') {
              clearTimeout(timer);
              link = new KeeperLink(socket, message);
              resolve(link);
            } else fail(new KeeperIncompatible(message.kind === 'refused' ? message.reason : message.kind));
          }
        }
      } catch (error) {
        fail(error instanceof Error ? error : new Error(String(error)));
      }
    });
  });
}

function parse(payload: Uint8Array): FromKeeper {
  return JSON.parse(Buffer.from(payload.buffer, payload.byteOffset, payload.length).toString()) as FromKeeper;
}

interface Waiter {
  resolve: (result: never) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout | null;
}

class KeeperLink implements KeeperConnection {
  readonly welcome: KeeperWelcome;
  readonly #socket: Socket;
  readonly #waiters = new Map<number, Waiter>();
  readonly #eventListeners: ((state: ChildState) => void)[] = [];
  readonly #outputListeners: Parameters<KeeperConnection['onPipeOutput']>[0][] = [];
  readonly #closeListeners: (() => void)[] = [];
  #nextId = 1;
  #open = true;

  constructor(socket: Socket, welcome: KeeperWelcome) {
    this.#socket = socket;
    this.welcome = welcome;
  }

  call<Call extends KeeperCall>(
    call: Call,
    params: KeeperCalls[Call]['params'],
    options: { timeoutMs?: number } = {},
  ): Promise<KeeperCalls[Call]['result']> {
    if (!this.#open) return Promise.reject(new KeeperGone('the connection is closed'));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const { timeoutMs } = options;
      const timer =
        timeoutMs === undefined
          ? null
          : setTimeout(() => {
              this.#waiters.delete(id);
              reject(new KeeperUnreachable('ETIMEDOUT'));
            }, timeoutMs);
      this.#waiters.set(id, { resolve, reject, timer });
      this.#socket.write(encodeJsonFrame(KeeperFrameKind.control, { kind: 'request', id, call, params }));
    });
  }

  onEvent(listener: (state: ChildState) => void): void {
    this.#eventListeners.push(listener);
  }

  onPipeOutput(listener: Parameters<KeeperConnection['onPipeOutput']>[0]): void {
    this.#outputListeners.push(listener);
  }

  onClose(listener: () => void): void {
    if (this.#open) this.#closeListeners.push(listener);
    else queueMicrotask(listener);
  }

  close(): void {
    this.#socket.destroy();
    this.closed();
  }

  receive(kind: number, payload: Uint8Array): void {
    if (kind === KeeperFrameKind.pipeOutput) {
      const output = decodePipeOutput(payload);
      for (const listener of this.#outputListeners)
        listener(output.sessionId, output.stream, output.offset, output.bytes);
      return;
    }
    if (kind !== KeeperFrameKind.control) return;
    const message = parse(payload);
    switch (message.kind) {
      case 'event':
        for (const listener of this.#eventListeners) listener(message.state);
        return;
      case 'reply':
        this.#take(message.id)?.resolve(message.result as never);
        return;
      case 'failure':
        this.#take(message.id)?.reject(new KeeperFailure(message.code, message.details));
        return;
      case 'welcome':
      case 'refused':
        return;
    }
  }

  closed(): void {
    if (!this.#open) return;
    this.#open = false;
    for (const id of [...this.#waiters.keys()]) this.#take(id)?.reject(new KeeperGone('the keeper closed'));
    for (const listener of this.#closeListeners) listener();
  }

  #take(id: number): Waiter | undefined {
    const waiter = this.#waiters.get(id);
    if (waiter?.timer) clearTimeout(waiter.timer);
    this.#waiters.delete(id);
    return waiter;
  }
}

export interface KeeperStart {
  /** Path of the bundled keeper script. */
  readonly script: string;
  readonly socketPath: string;
  readonly keeperId: string;
  readonly version: string;
  /** Receives the keeper's own complaints; appended to. */
  readonly logFile: string;
  /** Milliseconds until it must answer. */
  readonly timeoutMs?: number;
  /** Gives the start up; a keeper that has answered goes on. */
  readonly signal?: AbortSignal;
}

/**
 * Starts a keeper detached from this process (own kernel session, own descriptors), and waits until it answers. One that does not
 * is gone when this fails; it may leave its files.
 * @throws KeeperUnreachable when it ended, did not answer in time, or was given up.
 */
export async function startKeeper(start: KeeperStart): Promise<KeeperConnection> {
  const deadline = performance.now() + (start.timeoutMs ?? 10_000);
  const log = openSync(start.logFile, 'a', 0o600);
  const child = spawn(
    process.execPath,
    [start.script, '--socket', start.socketPath, '--id', start.keeperId, '--roost-version', start.version],
    { detached: true, cwd: '/', stdio: ['ignore', log, log], env: keeperEnvironment(process.env) },
  );
  closeSync(log);
  child.unref();
  // An object: set by listeners, which the compiler does not follow.
  const end: { code: string | null } = { code: null };
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      end.code = error.code ?? 'EIO';
      resolve();
    });
    child.once('exit', () => {
      end.code ??= 'EXITED';
      resolve();
    });
  });
  const giveUp = () => child.kill('SIGKILL');
  start.signal?.addEventListener('abort', giveUp);
  try {
    if (start.signal?.aborted === true) giveUp();
    for (;;) {
      try {
        return await connectKeeper(start.socketPath, {
          timeoutMs: Math.max(1, deadline - performance.now()),
        });
      } catch (error) {
        const waiting =
          error instanceof KeeperUnreachable && (error.code === 'ENOENT' || error.code === 'ECONNREFUSED');
        if (end.code !== null) throw new KeeperUnreachable(end.code, error);
        if (!waiting || performance.now() > deadline) throw error;
      }
      await delay(5);
    }
  } catch (error) {
    giveUp();
    child.ref();
    await ended;
    throw error;
  } finally {
    start.signal?.removeEventListener('abort', giveUp);
  }
}

/** A keeper needs next to nothing: what a child gets comes with each launch. */
function keeperEnvironment(parent: NodeJS.ProcessEnv): Record<string, string> {
  const environment: Record<string, string> = { ROOST_PROCESS: 'keeper' };
  for (const name of ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LC_ALL']) {
    const value = parent[name];
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}
