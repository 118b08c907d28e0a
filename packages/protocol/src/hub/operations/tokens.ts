// What programs log in with.
import * as z from 'zod';
import { boundedText } from '../../bounded-text.ts';
import { HubRole, HubScope } from '../access.ts';
import { hubOperation } from '../hub-operation.ts';
import { TokenId, UserName } from '../ids.ts';

/** Days that a personal token may live, at most and unless told otherwise. */
export const TOKEN_DAYS_MAX = 366;
export const TOKEN_DAYS_DEFAULT = 90;

export const HubToken = z.object({
  id: TokenId,
  user: UserName,
  /** What its owner calls it. */
  label: z.string(),
  role: HubRole,
  scope: HubScope.nullable(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  /** To the minute; null: never. */
  lastUsedAt: z.iso.datetime().nullable(),
});
export type HubToken = z.infer<typeof HubToken>;

const label = () => boundedText(64).min(1);
const tokenDays = () => z.int().min(1).max(TOKEN_DAYS_MAX).default(TOKEN_DAYS_DEFAULT);

export const tokenOperations = [
  hubOperation({
    name: 'tokens.list',
    summary: 'Lists tokens that are good: those of the one who asks, or of all for an admin.',
    role: 'self',
    route: { method: 'GET', path: '/tokens' },
    params: () => z.strictObject({}),
    result: () => z.object({ tokens: z.array(HubToken) }),
    failures: [],
  }),
  hubOperation({
    name: 'tokens.create',
    summary: 'Makes a personal token; it can do no more than its user, and less when told so.',
    role: 'self',
    route: { method: 'POST', path: '/tokens' },
    params: () =>
      z.strictObject({
        /** The one who asks unless given. */
        user: UserName.optional(),
        label: label(),
        role: HubRole.optional(),
        scope: HubScope.nullable().default(null),
        expiresInDays: tokenDays(),
      }),
    result: () =>
      z.object({
        token: HubToken,
        /**
         * Told once: `roost_hub_` and 64 hexadecimal digits. That of a hub whose certificate vouches for itself has a dot and the
         * certificate's fingerprint behind it, by which clients know the hub; it is taken with and without.
         */
        secret: z.string(),
      }),
    failures: ['unknown-user', 'forbidden'],
  }),
  hubOperation({
    name: 'tokens.revoke',
    summary: 'Ends a token; connections that were made with it are closed.',
    role: 'self',
    route: { method: 'DELETE', path: '/tokens/{tokenId}' },
    params: () => z.strictObject({ tokenId: TokenId }),
    result: () => z.object({}),
    failures: ['unknown-token'],
  }),
] as const;
