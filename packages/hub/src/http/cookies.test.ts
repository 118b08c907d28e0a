import { expect, it } from 'vitest';
import { HubId } from '@roost/protocol';
import { readSessionCookie, sessionCookie } from './cookies.ts';

const hubId = HubId.parse('0123456789abcdef');

it('is of this host alone over TLS, and read back either way', () => {
  const secure = sessionCookie(hubId, 'value', { isSecure: true, maxAgeMs: 60_000 });
  expect(secure).toBe(
    '__Host-roost_0123456789abcdef=value; Path=/; HttpOnly; SameSite=Strict; Max-Age=60; Secure',
  );
  const plain = sessionCookie(hubId, 'value', { isSecure: false, maxAgeMs: 0 });
  expect(plain).toBe('roost_0123456789abcdef=value; Path=/; HttpOnly; SameSite=Strict; Max-Age=0');
  for (const cookie of [secure, plain]) expect(readSessionCookie(cookie.split(';')[0], hubId)).toBe('value');
});

it('is found among others, and believed only when there is one', () => {
  const name = 'roost_0123456789abcdef';
  expect(readSessionCookie(`a=b; ${name}=x; roost_ffffffffffffffff=y`, hubId)).toBe('x');
  expect(readSessionCookie(`${name}=x; __Host-${name}=y`, hubId)).toBe('y');
  for (const header of [undefined, '', 'a=b', `${name}=x; ${name}=y`, `x${name}=y`, name])
    expect(readSessionCookie(header, hubId)).toBeUndefined();
});
