// The hubs that this node belongs to: joining one, leaving it, and calling each of them for as long as the node runs.
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import {
  FailureError,
  HUBS_MAX,
  NodeName,
  type HubId,
  type HubMembership,
  type NodeId,
  type Params,
} from '@roost/protocol';
import { hubAddress, splitPinned } from '@roost/protocol/node';
import type { ConnectionServer } from '../connection/server.ts';
import type { Handlers } from '../control/handlers.ts';
import type { Log } from '@roost/storage';
import { CallHome } from './call-home.ts';
import { enrol } from './enrol.ts';
import { readMemberships, removeMembership, writeMembership, type Membership } from './membership-files.ts';

/** Milliseconds that joining waits for the first call to come to something. */
const FIRST_CALL_MS = 3_000;

export interface HubsOptions {
  readonly directory: string;
  readonly nodeId: NodeId;
  readonly server: Pick<ConnectionServer, 'serveCall'>;
  readonly log: Log;
}

export class Hubs {
  readonly #options: HubsOptions;
  readonly #calls = new Map<HubId, CallHome>();

  constructor(options: HubsOptions) {
    this.#options = options;
  }

  begin(): void {
    for (const membership of readMemberships(this.#options.directory, this.#options.log))
      this.#call(membership);
  }

  close(): void {
    for (const call of this.#calls.values()) call.close();
    this.#calls.clear();
  }

  get list(): HubMembership[] {
    return [...this.#calls.values()].map(({ view }) => view);
  }

  /** @throws FailureError: hub-unreachable, hub-untrusted, invite-invalid, rate-limited, backend-busy, storage-full, storage-failed. */
  async join({ url, code, nodeName }: Params<'hub.join'>): Promise<HubMembership> {
    const { directory, nodeId } = this.#options;
    if (this.#calls.size >= HUBS_MAX) throw new FailureError('backend-busy', { hubsMax: HUBS_MAX });
    const address = hubAddress(url);
    const { secret, fingerprint } = splitPinned(code);
    const key = randomBytes(32).toString('hex');
    const wanted = nodeName ?? ownName(hostname());
    const enrolled = await enrol(address, fingerprint, { code: secret, nodeId, nodeName: wanted, key });
    const known = this.#calls.get(enrolled.hubId)?.view;
    if (known !== undefined && known.url !== address.base.origin) {
      throw new FailureError('hub-untrusted', {
        url: address.base.origin,
        reason: 'it says that it is another hub',
      });
    }
    const membership: Membership = {
      ...enrolled,
      url: address.base.origin,
      key,
      fingerprint,
      joinedAt: new Date().toISOString(),
    };
    writeMembership(directory, membership);
    this.#calls.get(enrolled.hubId)?.hangUp();
    const call = this.#call(membership);
    await call.firstOutcome(FIRST_CALL_MS);
    return call.view;
  }

  /** @throws FailureError: unknown-hub. */
  leave(hubId: HubId): void {
    const call = this.#find(hubId);
    removeMembership(this.#options.directory, hubId);
    this.#calls.delete(hubId);
    call.hangUp();
  }

  /** @throws FailureError: unknown-hub, hub-unreachable. */
  async connect(hubId: HubId, channel: string): Promise<void> {
    await this.#find(hubId).callFor(channel);
  }

  #find(hubId: HubId): CallHome {
    const call = this.#calls.get(hubId);
    if (call === undefined) throw new FailureError('unknown-hub', { hubId });
    return call;
  }

  #call(membership: Membership): CallHome {
    const { nodeId, server, log } = this.#options;
    const call = new CallHome({ membership, nodeId, server, log, now: Date.now, random: Math.random });
    this.#calls.set(membership.hubId, call);
    call.begin();
    return call;
  }
}

export function hubOperations(hubs: Hubs): Pick<Handlers, Extract<keyof Handlers, `hub.${string}`>> {
  return {
    'hub.join': (params) => hubs.join(params),
    'hub.leave': ({ hubId }) => {
      hubs.leave(hubId);
      return {};
    },
    'hub.list': () => ({ hubs: hubs.list }),
    'hub.connect': async ({ hubId, channel }) => {
      await hubs.connect(hubId, channel);
      return {};
    },
  };
}

/** The machine's name in the letters of a node's; `node` when nothing of it is left. */
export function ownName(machine: string): NodeName {
  const plain = machine
    .toLowerCase()
    .replace(/\..*$/, '')
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[-_]+/, '')
    .slice(0, 64);
  return NodeName.safeParse(plain).data ?? NodeName.parse('node');
}
