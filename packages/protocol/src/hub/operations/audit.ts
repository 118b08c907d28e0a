// Who changed what.
import * as z from 'zod';
import { FAILURE_CODES } from '../../failures.ts';
import { NodeId } from '../../ids.ts';
import { hubOperation } from '../hub-operation.ts';
import { NodeSelector } from '../ids.ts';
import { limit } from '../page.ts';

/** One line of the audit log. A mutation has two: asked, before anything is done, and answered. */
export const AuditEntry = z.object({
  sequence: z.int().positive(),
  at: z.iso.datetime(),
  /** Ties the two lines together, and is in the answer of the API. */
  requestId: z.string(),
  phase: z.enum(['asked', 'answered']),
  /** A user name, `local` for whoever owns the hub's directory, `node ID`, or `nobody` before a login. */
  actor: z.string(),
  /** The token or browser session that it came with, without its secret. */
  credential: z.string().nullable(),
  /** Address of the peer; `local` for the socket. */
  from: z.string(),
  operation: z.string(),
  nodeId: NodeId.nullable(),
  /** What it was done to: ids and names of the request, never its texts or paths. */
  target: z.record(z.string(), z.string()),
  /** null in the line of the asking. */
  outcome: z.union([z.literal('done'), z.enum(FAILURE_CODES)]).nullable(),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

export const auditOperations = [
  hubOperation({
    name: 'audit.list',
    summary: 'Reads the audit log, newest first.',
    role: 'admin',
    route: { method: 'GET', path: '/audit' },
    params: () =>
      z.strictObject({
        actor: z.string().max(64).optional(),
        node: NodeSelector.optional(),
        operation: z.string().max(64).optional(),
        limit: limit(),
        /** Only lines before this one. */
        before: z.coerce.number().int().positive().optional(),
      }),
    result: () => z.object({ entries: z.array(AuditEntry), hasMore: z.boolean() }),
    failures: ['unknown-node'],
  }),
] as const;
