/** Where a hub is, and whether it may be spoken with there: only where nobody can listen in. */
import { isIP } from 'node:net';
import { FailureError } from '../failures.ts';

export interface HubAddress {
  /** Scheme, host and port. */
  readonly base: URL;
  readonly isSecure: boolean;
}

/** @throws FailureError: hub-untrusted, when others could listen in; invalid-request. */
export function hubAddress(url: string): HubAddress {
  let base: URL;
  try {
    base = new URL(url);
  } catch (cause) {
    throw new FailureError('invalid-request', { issues: ['url: not a URL'] }, { cause });
  }
  const isSecure = base.protocol === 'https:';
  if (!isSecure && base.protocol !== 'http:') {
    throw new FailureError('invalid-request', { issues: ['url: https, or http to this machine'] });
  }
  if (!isSecure && !isLoopback(base.hostname)) {
    throw new FailureError('hub-untrusted', {
      url: base.origin,
      reason: 'http is for this machine only; use https',
    });
  }
  if (base.username !== '' || base.password !== '') {
    throw new FailureError('invalid-request', { issues: ['url: no user or password in it'] });
  }
  return { base: new URL(base.origin), isSecure };
}

/** A secret of a hub whose certificate nobody has signed names it: `SECRET.SHA256`. */
export function splitPinned(text: string): { readonly secret: string; readonly fingerprint: string | null } {
  const match = /^([^.]+)\.([0-9a-f]{64})$/.exec(text);
  return { secret: match?.[1] ?? text, fingerprint: match?.[2] ?? null };
}

export function joinPinned(secret: string, fingerprint: string | null): string {
  return fingerprint === null ? secret : `${secret}.${fingerprint}`;
}

function isLoopback(hostname: string): boolean {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return bare === 'localhost' || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'));
}
