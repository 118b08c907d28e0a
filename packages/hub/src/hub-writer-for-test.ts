// For tests only: a process that changes a hub's durable state as fast as it can, and prints what it did as soon as that is to last. It
// goes on until it is killed. `--home DIR`.
import { randomBytes } from 'node:crypto';
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { NodeId, NodeName, UserName, type InviteId } from '@roost/protocol';
import { openAccess } from './access/access.ts';
import { LOCAL } from './access/authenticate.ts';
import { nodeKey, NodeKeys } from './access/node-keys.ts';
import { newId, newSecret } from './access/secrets.ts';
import { Audit } from './audit/audit.ts';
import { hubIdentity } from './store/hub-identity.ts';
import { NodeTable } from './store/node-table.ts';
import { Store } from './store/store.ts';

/** What the process printed, one in a line of JSON. */
export type Written =
  | { readonly kind: 'hub'; readonly hubId: string }
  | { readonly kind: 'user'; readonly name: UserName }
  | { readonly kind: 'token'; readonly user: UserName; readonly secret: string }
  | { readonly kind: 'browser'; readonly user: UserName; readonly cookie: string }
  | { readonly kind: 'revoking' | 'revoked'; readonly secret: string }
  | { readonly kind: 'invite'; readonly id: InviteId }
  | {
      readonly kind: 'enrolled';
      readonly code: string;
      readonly nodeId: NodeId;
      readonly name: NodeName;
      readonly key: string;
    }
  | { readonly kind: 'asked' | 'answered'; readonly requestId: string };

const { values } = parseArgs({ options: { home: { type: 'string' } } });
const { home = '' } = values;
const say = (written: Written) => writeSync(1, `${JSON.stringify(written)}\n`);

const store = Store.open(join(home, 'hub.db'));
const nodes = new NodeTable(store);
const keys = new NodeKeys(home);
const audit = new Audit({ store, onLost: () => process.exit(1) });
const { accounts, tokens, logins, invites } = openAccess({ store, nodes });
say({ kind: 'hub', hubId: hubIdentity(store, { now: Date.now, random: randomBytes }) });

for (;;) {
  const requestId = newId(randomBytes);
  const answered = audit.asked({
    requestId,
    actor: LOCAL,
    from: 'local',
    operation: 'users.create',
    nodeId: null,
    params: {},
  });
  say({ kind: 'asked', requestId });
  const name = UserName.parse(`user-${newId(randomBytes)}`);
  accounts.create({ name, role: 'operator', scope: null });
  say({ kind: 'user', name });
  answered('done');
  say({ kind: 'answered', requestId });

  const made = [1, 2].map(() =>
    tokens.create({ user: name, label: 'test', scope: null, expiresInDays: 1 }, LOCAL),
  );
  for (const { secret } of made) say({ kind: 'token', user: name, secret });
  const [first] = made;
  if (first !== undefined) {
    say({ kind: 'revoking', secret: first.secret });
    tokens.revoke(first.token.id, name);
    say({ kind: 'revoked', secret: first.secret });
  }
  const { cookie } = logins.redeem(logins.createLink(name, LOCAL).code);
  say({ kind: 'browser', user: name, cookie });

  const { invite, code } = invites.create({ nodeName: null, expiresInMs: 86_400_000, createdBy: 'local' });
  say({ kind: 'invite', id: invite.id });
  const enrolment = { code, nodeId: NodeId.parse(newId(randomBytes)), key: newSecret(randomBytes) };
  const nodeName = invites.consume(enrolment, () => {
    const own = NodeName.parse(`node-${enrolment.nodeId}`);
    keys.write(enrolment.nodeId, nodeKey(enrolment.key));
    nodes.insert({ id: enrolment.nodeId, name: own, way: 'calls-home', enrolledAt: Date.now() });
    return own;
  });
  say({ kind: 'enrolled', ...enrolment, name: nodeName });
}
