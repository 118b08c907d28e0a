// Where a hub is, and whether it may be spoken with there: only where nobody can listen in.
import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { FailureError } from '@roost/protocol';

export interface HubAddress {
  readonly base: URL;
  readonly isSecure: boolean;
}

/** @throws FailureError: hub-untrusted, when others could listen in. */
export function hubAddress(url: string): HubAddress {
  const base = new URL(url);
  const isSecure = base.protocol === 'https:';
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

/** An invitation of a hub whose certificate nobody has signed names it: `CODE.SHA256`. */
export function splitCode(code: string): { readonly secret: string; readonly fingerprint: string | null } {
  const match = /^([^.]+)\.([0-9a-f]{64})$/.exec(code);
  return { secret: match?.[1] ?? code, fingerprint: match?.[2] ?? null };
}

/** With a fingerprint, the certificate itself is compared, and nobody needs to have signed it. */
export function isExpectedPeer(socket: TLSSocket, fingerprint: string): boolean {
  const { fingerprint256 } = socket.getPeerCertificate();
  return (
    typeof fingerprint256 === 'string' && fingerprint256.replaceAll(':', '').toLowerCase() === fingerprint
  );
}

function isLoopback(hostname: string): boolean {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return bare === 'localhost' || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'));
}
