// What every request is held against before anything else, upgrades included: whom it means (Host), which page it comes from (Origin), and
// that no secret is in its address. Decides from data alone.
//
// A page of another site can make a browser send requests here: by its own name that it lets lead to this machine (Host tells), with the
// cookie of who is logged in (SameSite and Origin tell), as a plain form (the header that only a script of ours sets tells).
import { CSRF_HEADER, failure, type Failure } from '@roost/protocol';

export interface RequestFacts {
  readonly method: string;
  /** Path and query, as they came. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Over the socket in the hub's directory, where no browser comes. */
  readonly isLocal: boolean;
}

export interface OwnPlaces {
  /** Names by which it may be meant, beside those of this machine's loopback: lower case, without port. */
  readonly hosts: ReadonlySet<string>;
  /** Origins of its own pages, beside that of the Host of the request. */
  readonly origins: ReadonlySet<string>;
  /** Of what is listened on: https or http. */
  readonly scheme: 'http' | 'https';
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
/** Parameters under which secrets are put into addresses. */
const SECRET_NAMES = new Set([
  'token',
  'access_token',
  'auth',
  'authorization',
  'bearer',
  'api_key',
  'apikey',
  'secret',
  'password',
  'code',
  'key',
  'cookie',
]);
const SECRET_VALUE = /roost_[a-z]+_[0-9a-f]{16}/;
/** Characters of an address: what the longest read asks for, encoded. */
const URL_CHARACTERS_MAX = 12 * 1024;

/** null: nothing stands against it. */
export function guardRequest(facts: RequestFacts, own: OwnPlaces): Failure | null {
  if (facts.url.length > URL_CHARACTERS_MAX)
    return failure('invalid-request', { reason: 'the address is too long' });
  if (hasSecret(facts.url))
    return failure('invalid-request', { reason: 'secrets do not belong into an address' });
  if (facts.isLocal) return one(facts, 'origin') === null ? null : failure('origin-refused');
  const host = hostName(one(facts, 'host'));
  if (host === null || !(LOOPBACK.test(host) || own.hosts.has(host))) return failure('origin-refused');
  if (originFits(facts, own) === 'foreign') return failure('origin-refused');
  // Pages may be linked to from everywhere; the API is asked by our own pages, and by what is no page. Another port of this machine is the
  // same site to a browser, and gets the cookie with it.
  const isOthers = ['cross-site', 'same-site'].includes(one(facts, 'sec-fetch-site') ?? '');
  return isOthers && !isPage(facts.url) ? failure('origin-refused') : null;
}

function isPage(url: string): boolean {
  // A path that is written in another way is no page of ours.
  const [path = ''] = url.split('?', 1);
  return !path.includes('%') && !/^\/(api|metrics|health|ready)\b/.test(path);
}

/** For what changes something, or opens a lasting connection, on the strength of a cookie or of nothing. null: it comes from our own page. */
export function guardBrowser(
  facts: RequestFacts,
  own: OwnPlaces,
  does: 'change' | 'upgrade',
): Failure | null {
  const origin = originFits(facts, own);
  if (does === 'upgrade') return origin === 'own' ? null : failure('origin-refused');
  if (one(facts, CSRF_HEADER) === null) return failure('origin-refused', { missing: CSRF_HEADER });
  const isOwn = origin === 'own' || (origin === 'absent' && one(facts, 'sec-fetch-site') === 'same-origin');
  return isOwn ? null : failure('origin-refused');
}

/** Whether a browser says that it sent the request: programs say neither. */
export function comesFromBrowser(facts: RequestFacts): boolean {
  return one(facts, 'origin') !== null || one(facts, 'sec-fetch-site') !== null;
}

function originFits(facts: RequestFacts, { origins, scheme }: OwnPlaces): 'own' | 'foreign' | 'absent' {
  const origin = one(facts, 'origin');
  if (origin === null) return 'absent';
  const ofHost = `${scheme}://${(one(facts, 'host') ?? '').toLowerCase()}`;
  return origin === ofHost || origins.has(origin) ? 'own' : 'foreign';
}

/** Lower case, without port; null: not one name. */
function hostName(host: string | null): string | null {
  const match = /^(\[[0-9a-f:]+\]|[a-z0-9.-]+)(?::\d{1,5})?$/.exec((host ?? '').toLowerCase());
  return match?.[1] ?? null;
}

/** null also when it is there more than once: what comes twice says nothing. */
function one({ headers }: RequestFacts, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' ? value : null;
}

function hasSecret(url: string): boolean {
  const at = url.indexOf('?');
  if (SECRET_VALUE.test(url)) return true;
  if (at === -1) return false;
  return [...new URLSearchParams(url.slice(at + 1))].some(
    ([name, value]) => SECRET_NAMES.has(name.toLowerCase()) || SECRET_VALUE.test(value),
  );
}
