// From what a request came with to who asks. What somebody may do is what their user and their credential both allow at this moment.
import { splitPinned } from '@roost/protocol/node';
import type { Accounts } from './accounts.ts';
import { meet } from './bounds.ts';
import type { GoodCredential } from './credentials.ts';
import type { Logins } from './logins.ts';
import type { Credential, Principal } from './principal.ts';
import type { Tokens } from './tokens.ts';

/** Who asks over the socket in the hub's directory, which only its owner reaches. */
export const LOCAL: Principal = {
  kind: 'local',
  user: null,
  role: 'admin',
  scope: null,
  credential: { kind: 'socket' },
  expiresAt: null,
};

export interface Presented {
  /** The header as it came. */
  readonly authorization?: string | undefined;
  /** The value of the hub's cookie. */
  readonly cookie?: string | undefined;
}

type Good = Omit<GoodCredential<string>, 'id'>;

export class Authenticator {
  readonly #accounts: Accounts;
  readonly #tokens: Tokens;
  readonly #logins: Logins;

  constructor(parts: { accounts: Accounts; tokens: Tokens; logins: Logins }) {
    this.#accounts = parts.accounts;
    this.#tokens = parts.tokens;
    this.#logins = parts.logins;
  }

  /** null: nobody. A header decides alone: a cookie does not make up for a bad one. */
  authenticate({ authorization, cookie }: Presented): Principal | null {
    if (authorization !== undefined) return this.#byToken(authorization);
    return cookie === undefined ? null : this.#byCookie(cookie);
  }

  /**
   * Who it is now that authenticated before; null when that is over. Counts as a use: something that stays open asks when its principal
   * ends (`expiresAt`), or changed (`AccessChanges`).
   */
  renew(principal: Principal): Principal | null {
    const { credential } = principal;
    switch (credential.kind) {
      case 'socket':
        return principal;
      case 'token':
        return this.#principal(this.#tokens.find(credential.id), credential);
      case 'cookie':
        return this.#principal(this.#logins.find(credential.id), credential);
    }
  }

  #byToken(authorization: string): Principal | null {
    const given = /^Bearer +([^ ]+) *$/i.exec(authorization)?.[1];
    // As it was told, perhaps with the fingerprint by which clients know the hub.
    const token = given === undefined ? null : this.#tokens.findBySecret(splitPinned(given).secret);
    return token === null ? null : this.#principal(token, { kind: 'token', id: token.id });
  }

  #byCookie(cookie: string): Principal | null {
    const session = this.#logins.findByCookie(cookie);
    return session === null ? null : this.#principal(session, { kind: 'cookie', id: session.id });
  }

  #principal(good: Good | null, credential: Credential): Principal | null {
    const user = good === null ? null : this.#accounts.find(good.user);
    if (good === null || user === null || user.disabled) return null;
    return {
      kind: 'user',
      user: user.name,
      ...meet(user, good.bounds),
      credential,
      expiresAt: good.expiresAt,
    };
  }
}
