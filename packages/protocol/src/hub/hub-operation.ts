/** What a hub does itself, declared once: routes, client, OpenAPI document, privilege checks and audit follow from it. */
import type * as z from 'zod';
import type { FailureCode } from '../failures.ts';
import type { HubRole } from './access.ts';
import type { HttpRoute } from './http-route.ts';

export interface HubOperation<
  Name extends string = string,
  Params extends z.ZodType = z.ZodType,
  Result extends z.ZodType = z.ZodType,
> {
  /** Dotted camelCase: the plural of what it is about, verb last. */
  readonly name: Name;
  readonly summary: string;
  /** public: whoever reaches the hub. self: everybody, about themselves; an admin about everybody. */
  readonly role: HubRole | 'public' | 'self';
  readonly route: HttpRoute;
  readonly params: Params;
  readonly result: Result;
  readonly failures: readonly FailureCode[];
}

export function hubOperation<const Name extends string, Params extends z.ZodType, Result extends z.ZodType>(
  declaration: Omit<HubOperation<Name, Params, Result>, 'params' | 'result'> & {
    params: () => Params;
    result: () => Result;
  },
): HubOperation<Name, Params, Result> {
  const { params, result, ...facts } = declaration;
  let builtParams: Params | undefined;
  let builtResult: Result | undefined;
  return {
    ...facts,
    get params() {
      return (builtParams ??= params());
    },
    get result() {
      return (builtResult ??= result());
    },
  };
}
