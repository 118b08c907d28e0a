/** A hub, and what one is to it: its owner on its own machine, or somebody with a token from anywhere. */
import { createConnection } from 'node:net';
import type { RequestOptions } from 'node:https';
import { hubAddress, pinnedAgent } from '@roost/protocol/node';

export type HubTarget =
  | { readonly socketPath: string }
  | {
      /** https, or http to this machine. */
      readonly url: string;
      /** `roost_hub_` and 64 hexadecimal digits. */
      readonly token: string;
      /** SHA-256 of the hub's certificate; null: one that this machine trusts. */
      readonly fingerprint: string | null;
    };

/** How a request to it is made. @throws FailureError: hub-untrusted. */
export function requestOptions(target: HubTarget): {
  readonly base: URL;
  readonly isSecure: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly options: Pick<RequestOptions, 'agent' | 'createConnection'>;
} {
  if ('socketPath' in target) {
    const { socketPath } = target;
    // The path goes to the socket itself: in a URL it would have to be free of `:`, `%`, `?`.
    return {
      base: new URL('http://localhost'),
      isSecure: false,
      headers: {},
      options: { createConnection: () => createConnection(socketPath) },
    };
  }
  const { base, isSecure } = hubAddress(target.url);
  return {
    base,
    isSecure,
    headers: { authorization: `Bearer ${target.token}` },
    options: target.fingerprint === null || !isSecure ? {} : { agent: pinnedAgent(target.fingerprint) },
  };
}
