// Invitations, with which nodes enrol.
import * as z from 'zod';
import { NodeId } from '../../ids.ts';
import { hubOperation } from '../hub-operation.ts';
import { InviteId, NodeName } from '../ids.ts';

/** Milliseconds that an invitation is good for: shortest, unless told otherwise, longest. */
export const INVITE_MS_MIN = 10_000;
export const INVITE_MS_DEFAULT = 600_000;
export const INVITE_MS_MAX = 86_400_000;

export const HubInvite = z.object({
  id: InviteId,
  nodeName: NodeName.nullable(),
  createdBy: z.string(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  /** The node that took it; null while none has. */
  usedBy: NodeId.nullable(),
});
export type HubInvite = z.infer<typeof HubInvite>;

export const inviteOperations = [
  hubOperation({
    name: 'invites.create',
    summary: 'Makes a one-time code with which one node enrols.',
    role: 'admin',
    route: { method: 'POST', path: '/invites' },
    params: () =>
      z.strictObject({
        /** What the node will be called; its own choice otherwise. */
        nodeName: NodeName.nullable().default(null),
        expiresInMs: z.int().min(INVITE_MS_MIN).max(INVITE_MS_MAX).default(INVITE_MS_DEFAULT),
      }),
    result: () =>
      z.object({
        invite: HubInvite,
        /** Secret, told once. */
        code: z.string(),
        url: z.string(),
      }),
    failures: ['name-taken'],
  }),
  hubOperation({
    name: 'invites.list',
    summary: 'Lists invitations that are open or were used in the last day.',
    role: 'admin',
    route: { method: 'GET', path: '/invites' },
    params: () => z.strictObject({}),
    result: () => z.object({ invites: z.array(HubInvite) }),
    failures: [],
  }),
  hubOperation({
    name: 'invites.revoke',
    summary: 'Takes an invitation back.',
    role: 'admin',
    route: { method: 'DELETE', path: '/invites/{inviteId}' },
    params: () => z.strictObject({ inviteId: InviteId }),
    result: () => z.object({}),
    failures: ['invite-invalid'],
  }),
] as const;
