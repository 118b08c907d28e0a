// What a feature gives to the admission pipeline: one handler an operation.
import type {
  ConnectionId,
  OperationName,
  Params,
  Projection,
  Result,
  Role,
  ScreenFrame,
  SessionAddress,
} from '@roost/protocol';

/** The connection that asks, as far as a handler may know it. */
export interface Caller {
  readonly connectionId: ConnectionId;
  readonly role: Role;
  /** Name that the client gave itself: its launches count together. */
  readonly clientName: string;
  /** What this connection may see. Whoever resolves a session, record or launch for it asks here before acting. */
  readonly projection: Projection;
  /** What is pushed to this connection, beside answers. */
  readonly lanes: Lanes;
  /** Its channels to terminals. */
  readonly terminals: Terminals;
  /** Aborted when the connection is gone or the node stops: waiting reads end early. */
  readonly signal: AbortSignal;
}

/** One slot for each lane: starting anew replaces what was there. Everything ends with the connection. */
export interface Lanes {
  /** Every durable event after a sequence, in order, each once. */
  followEvents(after: number): void;
  /** Tells first that what lies between is gone, then follows after `last`. */
  resyncEvents(floor: number, last: number): void;
  /** The newest screen of each session, as fast as the connection reads. `null` ends it. */
  watchScreens(source: ScreenSource | null): void;
  /** Pipe output in order; at the speed of the connection. `null` ends the one of that key. */
  followOutput(key: string, source: OutputSource | null): void;
}

interface Terminals {
  /** A new channel to the socket of a keeper. @throws FailureError: backend-busy, keeper-unavailable. */
  open(path: string): Promise<number>;
  /** One that has ended is none of its concern. */
  close(channel: number): void;
}

/** Screens that changed since they were last taken. */
export interface ScreenSource {
  /** The newest frame of one session that changed, or null; the next call takes another session. */
  take(): { readonly session: SessionAddress; readonly frame: ScreenFrame } | null;
  /** Called when something can be taken that could not be before. */
  onReady(listener: () => void): void;
  close(): void;
}

export interface OutputChunk {
  readonly session: SessionAddress;
  readonly stream: 'stdout' | 'stderr';
  readonly offset: number;
  readonly bytes: Uint8Array;
  readonly nextOffset: number;
  readonly ended: boolean;
}

export interface OutputSource {
  /** The next bytes, or null when none are there yet; after a chunk with `ended` it is not asked again. */
  take(): OutputChunk | null;
  onReady(listener: () => void): void;
  close(): void;
}

type Handler<Name extends OperationName> = (
  params: Params<Name>,
  caller: Caller,
) => Result<Name> | Promise<Result<Name>>;

export type Handlers = { readonly [Name in OperationName]: Handler<Name> };
