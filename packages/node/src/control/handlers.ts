// What a feature gives to the admission pipeline: one handler an operation.
import type { Capability, OperationName, Params, Result } from '@roost/protocol';

/** The connection that asks, as far as a handler may know it. */
export interface Caller {
  readonly capabilities: readonly Capability[];
  /** Sends this connection every durable event after a sequence, from now on. Replaces an earlier following. */
  followEvents(after: number): void;
  /** Aborted when the connection is gone or the node stops: waiting reads end early. */
  readonly signal: AbortSignal;
}

type Handler<Name extends OperationName> = (
  params: Params<Name>,
  caller: Caller,
) => Result<Name> | Promise<Result<Name>>;

export type Handlers = { readonly [Name in OperationName]: Handler<Name> };
