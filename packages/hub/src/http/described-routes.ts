// The routes of both operations tables, with everything that is told of them.
import type * as z from 'zod';
import {
  ACCESS_FAILURES,
  COMMON_FAILURES,
  HUB_COMMON_FAILURES,
  HUB_OPERATIONS,
  HUB_ROUTING_FAILURES,
  hubReach,
  NODE_ROUTES,
  OPERATIONS,
  type FailureCode,
  type HttpRoute,
  type HubRole,
  type OperationName,
} from '@roost/protocol';
import { isHubMutation, isNodeMutation } from '../access/mutations.ts';

export interface DescribedRoute {
  readonly operation: string;
  readonly summary: string;
  readonly route: HttpRoute;
  /** null: nobody has to be known. */
  readonly role: HubRole | null;
  readonly isMutation: boolean;
  readonly isOfNode: boolean;
  readonly params: z.ZodType;
  readonly result: z.ZodType;
  readonly failures: readonly FailureCode[];
}

/** In the order of the tables: what the hub does itself, then what it passes on. */
export function describedRoutes(): readonly DescribedRoute[] {
  const ofHub = Object.values(HUB_OPERATIONS).map((one): DescribedRoute => ({
    operation: one.name,
    summary: one.summary,
    route: one.route,
    role: one.role === 'public' ? null : one.role === 'self' ? 'observer' : one.role,
    isMutation: isHubMutation(one.name),
    isOfNode: false,
    params: one.params,
    result: one.result,
    failures: unique<FailureCode>([...one.failures, ...HUB_COMMON_FAILURES]),
  }));
  const ofNode = (Object.entries(NODE_ROUTES) as [OperationName, HttpRoute | null][]).flatMap(
    ([name, route]) => {
      const reach = hubReach(name);
      if (route === null || reach === 'never') return [];
      const { summary, access, params, result, failures } = OPERATIONS[name];
      const all = [
        ...failures,
        ...ACCESS_FAILURES[access],
        ...HUB_ROUTING_FAILURES,
        ...COMMON_FAILURES,
        ...HUB_COMMON_FAILURES,
      ];
      const described: DescribedRoute = {
        operation: name,
        summary,
        route,
        role: reach,
        isMutation: isNodeMutation(name),
        isOfNode: true,
        params,
        result,
        failures: unique(all),
      };
      return [described];
    },
  );
  return [...ofHub, ...ofNode];
}

function unique<Value>(values: readonly Value[]): Value[] {
  return [...new Set(values)];
}
