// What the operations of the hub are done with.
import type { HubOperationName, HubParams, HubResult } from '@roost/protocol';
import type { Principal } from '../access/principal.ts';

export interface Caller {
  /** null: nobody, at an operation that is public. */
  readonly principal: Principal | null;
  /** Address of the peer; `local` for the socket in the hub's directory. */
  readonly from: string;
  readonly requestId: string;
  /** Puts the hub's cookie into the answer; milliseconds that the browser keeps it, 0 to take it away. */
  readonly setCookie: (value: string, maxAgeMs: number) => void;
}

type HubHandler<Name extends HubOperationName> = (
  params: HubParams<Name>,
  caller: Caller,
) => HubResult<Name> | Promise<HubResult<Name>>;

export type HubHandlers = { readonly [Name in HubOperationName]: HubHandler<Name> };
