// What is on the nodes, all of them in one list: from what the hub knows, without asking any.
import * as z from 'zod';
import { ActivityState } from '../../activity.ts';
import { boundedText } from '../../bounded-text.ts';
import { RecordId, SessionId, WorkspaceId } from '../../ids.ts';
import { hubOperation } from '../hub-operation.ts';
import { NodeSelector } from '../ids.ts';
import { cursor, limit, page } from '../page.ts';
import { PlacedRecord, PlacedSession, PlacedWorkspace, Watcher } from '../views.ts';

export const listOperations = [
  hubOperation({
    name: 'sessions.list',
    summary: 'Lists sessions of all nodes: those that wait for a person first, then the newest.',
    role: 'observer',
    route: { method: 'GET', path: '/sessions' },
    params: () =>
      z.strictObject({
        node: NodeSelector.optional(),
        workspaceId: WorkspaceId.optional(),
        /** live: not ended. */
        status: z.enum(['live', 'ended', 'all']).default('live'),
        state: ActivityState.optional(),
        provider: z.string().max(64).optional(),
        /** In the name of session, workspace or node, or the start of the session's id. */
        search: boundedText(64).optional(),
        limit: limit(),
        cursor: cursor(),
      }),
    result: () => z.object({ sessions: z.array(PlacedSession), ...page }),
    failures: ['unknown-node'],
  }),
  hubOperation({
    name: 'sessions.show',
    summary: 'Shows one session wherever it is.',
    role: 'observer',
    route: { method: 'GET', path: '/sessions/{sessionId}' },
    params: () => z.strictObject({ sessionId: SessionId }),
    result: () => PlacedSession,
    failures: ['unknown-session'],
  }),
  hubOperation({
    name: 'sessions.watchers',
    summary: 'Lists who has the terminal of a session open through this hub.',
    role: 'observer',
    route: { method: 'GET', path: '/sessions/{sessionId}/watchers' },
    params: () => z.strictObject({ sessionId: SessionId }),
    result: () => z.object({ watchers: z.array(Watcher) }),
    failures: ['unknown-session'],
  }),
  hubOperation({
    name: 'records.list',
    summary: 'Lists records of all nodes, those that changed last first.',
    role: 'observer',
    route: { method: 'GET', path: '/records' },
    params: () =>
      z.strictObject({
        node: NodeSelector.optional(),
        workspaceId: WorkspaceId.optional(),
        state: z.enum(['live', 'identity-pending', 'dormant', 'unavailable']).optional(),
        search: boundedText(64).optional(),
        limit: limit(),
        cursor: cursor(),
      }),
    result: () => z.object({ records: z.array(PlacedRecord), ...page }),
    failures: ['unknown-node'],
  }),
  hubOperation({
    name: 'records.show',
    summary: 'Shows one record wherever it is.',
    role: 'observer',
    route: { method: 'GET', path: '/records/{recordId}' },
    params: () => z.strictObject({ recordId: RecordId }),
    result: () => PlacedRecord,
    failures: ['unknown-session-record'],
  }),
  hubOperation({
    name: 'workspaces.list',
    summary: 'Lists workspaces of all nodes, by node and id.',
    role: 'observer',
    route: { method: 'GET', path: '/workspaces' },
    params: () => z.strictObject({ node: NodeSelector.optional(), limit: limit(), cursor: cursor() }),
    result: () => z.object({ workspaces: z.array(PlacedWorkspace), ...page }),
    failures: ['unknown-node'],
  }),
  hubOperation({
    name: 'attention.list',
    summary: 'Lists the live sessions that wait for a person, those that wait longest first.',
    role: 'observer',
    route: { method: 'GET', path: '/attention' },
    params: () => z.strictObject({ node: NodeSelector.optional() }),
    result: () => z.object({ sessions: z.array(PlacedSession), truncated: z.boolean() }),
    failures: ['unknown-node'],
  }),
] as const;
