/** One node's connection: requests in, replies and events out, pipe output pushed with back-pressure. */
import type { Socket } from 'node:net';
import type { FailureCode } from '@roost/protocol';
import { encodeFrame, encodeJsonFrame } from '@roost/protocol/terminal-frames';
import { Refused, type Children } from './children.ts';
import { fieldsOf, InvalidField, text, type Fields } from './fields.ts';
import {
  acknowledgementOf,
  clientNameOf,
  graceOf,
  inputOf,
  launchOf,
  modeOf,
  offsetsOf,
  revisionOf,
  scrollbackOf,
  sessionIdOf,
  sizeOf,
} from './keeper-requests.ts';
import { encodePipeOutput } from './pipe-output-frame.ts';
import type { Tickets } from './tickets.ts';
import {
  KeeperFrameKind,
  type ChildState,
  type KeeperCall,
  type KeeperCalls,
  type PipeStream,
} from './wire.ts';

/** Bytes that may wait in the socket before pushing pauses, and events wait for it to drain. */
const PUSH_WAITING_BYTES_MAX = 1024 * 1024;
const PUSH_PIECE_BYTES = 256 * 1024;

type Handlers = {
  readonly [Call in KeeperCall]: (
    fields: Fields,
  ) => KeeperCalls[Call]['result'] | Promise<KeeperCalls[Call]['result']>;
};

export class ControlConnection {
  readonly #socket: Socket;
  readonly #children: Children;
  readonly #handlers: Handlers;
  /** Next offset to push, per followed session. */
  readonly #followed = new Map<string, Record<PipeStream, number>>();
  /** Sessions whose newest state is owed to a node that does not read just now. */
  readonly #owedStates = new Set<string>();

  constructor(socket: Socket, children: Children, tickets: Tickets) {
    this.#socket = socket;
    this.#children = children;
    socket.on('drain', () => {
      for (const sessionId of [...this.#owedStates]) {
        const state = children.state(sessionId);
        if (state === null) this.#owedStates.delete(sessionId);
        else this.changed(state);
      }
      for (const sessionId of this.#followed.keys()) this.#push(sessionId);
    });
    this.#handlers = {
      spawn: (fields) => children.spawn(launchOf(fields)),
      list: async () => ({ children: await children.settledList() }),
      input: (fields) => children.input(sessionIdOf(fields), inputOf(fields)),
      resize: (fields) => {
        const { columns, rows } = sizeOf(fields);
        children.resize(sessionIdOf(fields), columns, rows);
        return {};
      },
      interrupt: (fields) => {
        children.interrupt(sessionIdOf(fields));
        return {};
      },
      stop: (fields) => children.stop(sessionIdOf(fields), graceOf(fields)),
      readScreen: (fields) => children.readScreen(sessionIdOf(fields), scrollbackOf(fields)),
      nextFrame: (fields) => children.nextFrame(sessionIdOf(fields), revisionOf(fields)),
      grantAttach: (fields) => {
        children.terminal(sessionIdOf(fields));
        return tickets.issue({
          sessionId: sessionIdOf(fields),
          mode: modeOf(fields),
          clientName: clientNameOf(fields),
        });
      },
      followOutput: (fields) => {
        children.pipe(sessionIdOf(fields));
        this.#followed.set(sessionIdOf(fields), offsetsOf(fields));
        setImmediate(() => this.#push(sessionIdOf(fields)));
        return {};
      },
      acknowledge: (fields) => {
        const { stream, offset } = acknowledgementOf(fields);
        children.pipe(sessionIdOf(fields)).streams[stream].acknowledge(offset);
        return {};
      },
      release: (fields) => {
        this.#followed.delete(sessionIdOf(fields));
        children.release(sessionIdOf(fields));
        return {};
      },
      status: () => ({
        children: children.count,
        attachments: children.attachments,
        residentBytes: process.memoryUsage.rss(),
      }),
    };
  }

  changed(state: ChildState): void {
    if (this.#socket.writableLength > PUSH_WAITING_BYTES_MAX) {
      this.#owedStates.add(state.sessionId);
      return;
    }
    this.#owedStates.delete(state.sessionId);
    this.#send({ kind: 'event', state });
  }

  output(sessionId: string): void {
    this.#push(sessionId);
  }

  /** Never throws: whatever is wrong with a request is answered. */
  receive(payload: Uint8Array): void {
    let id = 0;
    const fail = (error: unknown) => {
      const { code, details } = refusalOf(error);
      this.#send({ kind: 'failure', id, code, details });
    };
    try {
      const message = fieldsOf(
        JSON.parse(Buffer.from(payload.buffer, payload.byteOffset, payload.length).toString()),
        'request',
      );
      if (typeof message.id === 'number') id = message.id;
      const call = text(message, 'call', 32);
      if (!isCall(call, this.#handlers)) throw new InvalidField('call');
      const result = this.#handlers[call](fieldsOf(message.params, 'params'));
      Promise.resolve(result).then((value) => this.#send({ kind: 'reply', id, result: value }), fail);
    } catch (error) {
      fail(error);
    }
  }

  #push(sessionId: string): void {
    const next = this.#followed.get(sessionId);
    if (next === undefined) return;
    let streams;
    try {
      ({ streams } = this.#children.pipe(sessionId));
    } catch {
      this.#followed.delete(sessionId);
      return;
    }
    for (const stream of ['stdout', 'stderr'] as const) {
      for (const { offset, bytes } of streams[stream].from(next[stream])) {
        for (let at = 0; at < bytes.length; at += PUSH_PIECE_BYTES) {
          if (this.#socket.writableLength > PUSH_WAITING_BYTES_MAX) return;
          const piece = bytes.subarray(at, at + PUSH_PIECE_BYTES);
          const payload = encodePipeOutput({ sessionId, stream, offset: offset + at, bytes: piece });
          this.#socket.write(encodeFrame(KeeperFrameKind.pipeOutput, payload));
          next[stream] = offset + at + piece.length;
        }
      }
    }
  }

  #send(message: unknown): void {
    if (this.#socket.writable) this.#socket.write(encodeJsonFrame(KeeperFrameKind.control, message));
  }
}

function isCall(name: string, handlers: Handlers): name is KeeperCall {
  return Object.hasOwn(handlers, name);
}

function refusalOf(error: unknown): { code: FailureCode; details: Record<string, unknown> } {
  if (error instanceof Refused) return { code: error.code, details: error.details };
  if (error instanceof InvalidField) return { code: 'invalid-request', details: { field: error.field } };
  if (error instanceof SyntaxError) return { code: 'invalid-request', details: { field: 'json' } };
  process.stderr.write(
    `${new Date().toISOString()} request failed: ${String(error instanceof Error ? error.stack : error)}\n`,
  );
  return { code: 'internal-error', details: {} };
}
