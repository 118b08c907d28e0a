// The nodes of a hub.
import * as z from 'zod';
import { NodeId } from '../../ids.ts';
import { hubOperation } from '../hub-operation.ts';
import { HubId, NodeName, NodeSelector } from '../ids.ts';
import { HubNode } from '../views.ts';

export const nodeOperations = [
  hubOperation({
    name: 'nodes.list',
    summary: 'Lists the enrolled nodes by name, with their links.',
    role: 'observer',
    route: { method: 'GET', path: '/nodes' },
    params: () => z.strictObject({}),
    result: () => z.object({ nodes: z.array(HubNode) }),
    failures: [],
  }),
  hubOperation({
    name: 'nodes.show',
    summary: 'Shows one node, by name or id.',
    role: 'observer',
    route: { method: 'GET', path: '/nodes/{node}' },
    params: () => z.strictObject({ node: NodeSelector }),
    result: () => HubNode,
    failures: ['unknown-node'],
  }),
  hubOperation({
    name: 'nodes.rename',
    summary: 'Gives a node another name at this hub.',
    role: 'admin',
    route: { method: 'PATCH', path: '/nodes/{node}' },
    params: () => z.strictObject({ node: NodeSelector, name: NodeName }),
    result: () => HubNode,
    failures: ['unknown-node', 'name-taken'],
  }),
  hubOperation({
    name: 'nodes.remove',
    summary: 'Ends the enrolment of a node: its key is forgotten, its link closed. Its sessions go on.',
    role: 'admin',
    route: { method: 'DELETE', path: '/nodes/{node}' },
    params: () => z.strictObject({ node: NodeSelector }),
    result: () => z.object({ nodeId: NodeId }),
    failures: ['unknown-node'],
  }),
  hubOperation({
    name: 'nodes.enrol',
    summary:
      'Enrols a node with the code of an invitation. Asked again with the same code, node and key, it answers the same.',
    role: 'public',
    route: { method: 'POST', path: '/enrol' },
    params: () =>
      z.strictObject({
        code: z.string().max(256),
        nodeId: NodeId,
        /** Taken with a number behind it when another node has it, unless the invitation names one. */
        nodeName: NodeName,
        /** 32 random bytes of the node, in hexadecimal: both sides prove it at every connection from now on. */
        key: z.string().regex(/^[0-9a-f]{64}$/),
      }),
    result: () => z.object({ hubId: HubId, nodeName: NodeName }),
    failures: ['invite-invalid', 'already-enrolled', 'rate-limited'],
  }),
] as const;
