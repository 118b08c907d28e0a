// The cookie of a browser that is logged in. Its name has the hub in it: cookies do not know ports, and two hubs may share a machine.
import type { HubId } from '@roost/protocol';

/** Over TLS browsers take a cookie of that prefix from this host alone, for all of it. */
const nameOf = (hubId: HubId, isSecure: boolean) => `${isSecure ? '__Host-' : ''}roost_${hubId}`;

/** `maxAgeMs`: milliseconds that the browser keeps it. */
export function sessionCookie(
  hubId: HubId,
  value: string,
  { isSecure, maxAgeMs }: { isSecure: boolean; maxAgeMs: number },
): string {
  const attributes = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${Math.floor(maxAgeMs / 1_000)}`;
  return `${nameOf(hubId, isSecure)}=${value}; ${attributes}${isSecure ? '; Secure' : ''}`;
}

/** undefined: there is none, or two that could be meant. */
export function readSessionCookie(header: string | undefined, hubId: HubId): string | undefined {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim().split('='));
  const valuesOf = (isSecure: boolean) =>
    pairs.flatMap(([name, value]) =>
      name === nameOf(hubId, isSecure) && value !== undefined ? [value] : [],
    );
  const [value, ...others] = valuesOf(true).length > 0 ? valuesOf(true) : valuesOf(false);
  return others.length === 0 ? value : undefined;
}
