// How browsers log in and out.
import * as z from 'zod';
import { hubOperation } from '../hub-operation.ts';
import { UserName } from '../ids.ts';
import { Whoami } from './hub.ts';

/** Milliseconds that a login link is good for. */
export const LOGIN_LINK_MS = 300_000;

export const loginOperations = [
  hubOperation({
    name: 'logins.create',
    summary: 'Makes a link that logs a browser in, once.',
    role: 'self',
    route: { method: 'POST', path: '/login-links' },
    params: () => z.strictObject({ user: UserName.optional() }),
    result: () => z.object({ url: z.string(), expiresAt: z.iso.datetime() }),
    failures: ['unknown-user', 'forbidden'],
  }),
  hubOperation({
    name: 'logins.redeem',
    summary: 'Logs this browser in with the code of a link, and sets its cookie.',
    role: 'public',
    route: { method: 'POST', path: '/login' },
    params: () => z.strictObject({ code: z.string().max(256) }),
    result: () => Whoami,
    failures: ['unauthenticated', 'rate-limited'],
  }),
  hubOperation({
    name: 'logins.end',
    summary: 'Logs this browser out.',
    role: 'observer',
    route: { method: 'POST', path: '/logout' },
    params: () => z.strictObject({}),
    result: () => z.object({}),
    failures: [],
  }),
] as const;
