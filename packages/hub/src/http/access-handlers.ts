// Users, tokens, logins, invitations, the audit log: what the access side does, as operations.
import { FailureError, type HubOperationName, NodeId, type UserName, type Whoami } from '@roost/protocol';
import { joinPinned } from '@roost/protocol/node';
import { userFor } from '../access/credentials.ts';
import { BROWSER_LIFE_MS, loginUrl } from '../access/logins.ts';
import type { Principal } from '../access/principal.ts';
import { actorName } from '../audit/audit.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { HubContext } from './context.ts';
import type { Caller, HubHandlers } from './handlers.ts';

type AccessHandlers = Pick<
  HubHandlers,
  Extract<HubOperationName, `users.${string}` | `tokens.${string}` | `logins.${string}` | `invites.${string}`>
> &
  Pick<HubHandlers, 'me.show' | 'audit.list' | 'nodes.enrol'>;

export function accessHandlers(context: HubContext): AccessHandlers {
  const { access, audit, fleet, hubId, place } = context;
  const { accounts, tokens, logins, invites, attempts } = access;

  /** What needs no credential: whoever fails too often waits. */
  const attempt = <Result>({ from }: Caller, act: () => Result): Result => {
    try {
      return act();
    } catch (error) {
      const isGuess =
        error instanceof FailureError && ['unauthenticated', 'invite-invalid'].includes(error.failure.code);
      if (isGuess && from !== 'local') {
        context.metrics.authenticationFailed();
        attempts.failed(from);
      }
      throw error;
    }
  };

  return {
    'me.show': (_, caller) => whoami(known(caller)),
    'users.list': () => ({ users: accounts.list() }),
    'users.create': (wanted) => accounts.create(wanted),
    'users.change': (wanted) => accounts.change(wanted),
    'users.remove': ({ name }) => {
      accounts.remove(name);
      return {};
    },
    'tokens.list': (_, caller) => ({ tokens: tokens.list(ownerOf(known(caller))) }),
    'tokens.create': ({ user, ...wanted }, caller) => {
      const principal = known(caller);
      const { token, secret } = tokens.create({ ...wanted, user: userFor(principal, user) }, principal);
      return { token, secret: joinPinned(secret, context.pin) };
    },
    'tokens.revoke': ({ tokenId }, caller) => {
      tokens.revoke(tokenId, ownerOf(known(caller)));
      return {};
    },
    'logins.create': ({ user }, caller) => {
      const principal = known(caller);
      const { code, expiresAt } = logins.createLink(userFor(principal, user), principal);
      return { url: loginUrl(place().url, code), expiresAt: new Date(expiresAt).toISOString() };
    },
    'logins.redeem': ({ code }, caller) =>
      attempt(caller, () => {
        const { cookie, session } = logins.redeem(code);
        const principal = access.authenticator.authenticate({ cookie });
        if (principal === null) throw new FailureError('unauthenticated');
        caller.setCookie(cookie, BROWSER_LIFE_MS);
        return { ...whoami(principal), expiresAt: new Date(session.expiresAt).toISOString() };
      }),
    'logins.end': (_, caller) => {
      const { credential } = known(caller);
      if (credential.kind === 'cookie') {
        logins.end(credential.id);
        caller.setCookie('', 0);
      }
      return {};
    },
    'invites.create': (wanted, caller) => {
      const { invite, code } = invites.create({ ...wanted, createdBy: actorName(known(caller)) });
      return { invite, code: joinPinned(code, context.pin), url: place().url };
    },
    'invites.list': () => ({ invites: invites.list() }),
    'invites.revoke': ({ inviteId }) => {
      invites.revoke(inviteId);
      return {};
    },
    'nodes.enrol': ({ code, nodeId, nodeName, key }, caller) =>
      attempt(caller, () => {
        const name = invites.consume({ code, nodeId, key }, ({ nodeName: given }) =>
          fleet.enrol({ nodeId, name: given ?? nodeName, isNameFixed: given !== null, key }),
        );
        return { hubId, nodeName: name };
      }),
    'audit.list': ({ node, ...filter }) =>
      audit.list({ ...filter, nodeId: node === undefined ? undefined : auditedNode(fleet, node) }),
  };
}

/** @throws FailureError: unauthenticated. */
export function known({ principal }: Caller): Principal {
  if (principal === null) throw new FailureError('unauthenticated');
  return principal;
}

/** Whose things they see; null: everybody's. */
function ownerOf(principal: Principal): UserName | null {
  if (principal.role === 'admin') return null;
  // Only the owner of the directory is no user, and that one is an admin.
  if (principal.user === null) throw new FailureError('forbidden');
  return principal.user;
}

function whoami({ kind, user, role, scope, expiresAt }: Principal): Whoami {
  return {
    kind,
    user,
    role,
    scope,
    expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
  };
}

/** Also one that is enrolled no more, by its whole id. */
function auditedNode(fleet: Fleet, selector: string): NodeId {
  try {
    return fleet.find(selector).id;
  } catch (error) {
    if (error instanceof FailureError && NodeId.safeParse(selector).success) return NodeId.parse(selector);
    throw error;
  }
}
