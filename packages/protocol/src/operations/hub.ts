import * as z from 'zod';
import { HubId, NodeName } from '../hub/ids.ts';
import { lazySchema } from '../lazy-schema.ts';
import { operation } from '../operation.ts';

/** Hubs that one node may belong to. */
export const HUBS_MAX = 8;

/** A hub that this node belongs to, as the node sees it. */
export const HubMembership = lazySchema(() =>
  z.object({
    hubId: HubId,
    url: z.string(),
    /** What this node is called there. */
    nodeName: NodeName,
    joinedAt: z.iso.datetime(),
    /** connecting: for the first time since the node began. online. offline: tried again. refused: the hub does not know this node any more. */
    state: z.enum(['connecting', 'online', 'offline', 'refused']),
    since: z.iso.datetime(),
    /** Attempts since it was online last. */
    attempts: z.int().nonnegative(),
  }),
);
export type HubMembership = z.infer<typeof HubMembership>;

export const hubJoin = operation({
  name: 'hub.join',
  summary: 'Enrols this node at a hub with the code of an invitation; the node calls it from now on.',
  access: 'operator',
  capability: 'hub-membership-v1',
  params: () =>
    z.strictObject({
      /** https, or http to this machine. */
      url: z.url({ protocol: /^https?$/ }).max(1_024),
      code: z.string().min(1).max(256),
      /** What to be called there; from the name of the machine otherwise. */
      nodeName: NodeName.optional(),
    }),
  result: () => HubMembership,
  failures: [
    'hub-unreachable',
    'hub-untrusted',
    'invite-invalid',
    'already-enrolled',
    'rate-limited',
    'backend-busy',
  ],
});

export const hubLeave = operation({
  name: 'hub.leave',
  summary: 'Ends the membership of this node at a hub: its key is forgotten, and no more calls are made.',
  access: 'operator',
  capability: 'hub-membership-v1',
  params: () => z.strictObject({ hubId: HubId }),
  result: () => z.object({}),
  failures: ['unknown-hub'],
});

export const hubList = operation({
  name: 'hub.list',
  summary: 'Lists the hubs that this node belongs to.',
  access: 'observer',
  capability: 'hub-membership-v1',
  params: () => z.strictObject({}),
  result: () => z.object({ hubs: z.array(HubMembership) }),
  failures: [],
});

export const hubConnect = operation({
  name: 'hub.connect',
  summary: 'Lets the node call a hub once more, for one of its clients.',
  access: 'operator',
  capability: 'hub-membership-v1',
  params: () =>
    z.strictObject({
      hubId: HubId,
      /** Which call it will be; 32 hexadecimal digits, random. */
      channel: z.string().regex(/^[0-9a-f]{32}$/),
    }),
  result: () => z.object({}),
  failures: ['unknown-hub', 'hub-unreachable'],
});
