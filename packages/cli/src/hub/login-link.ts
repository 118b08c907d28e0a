/** A link that logs a browser in. The hub's own first user comes to be with the first link that its owner asks for. */
import { userInfo } from 'node:os';
import { hubRequest, type HubTarget } from '@roost/client';
import { UserName, type HubResult } from '@roost/protocol';
import { UsageError } from '../usage-error.ts';

export async function loginLink(hub: HubTarget, named?: string): Promise<HubResult<'logins.create'>> {
  const user = named === undefined ? await ownUser(hub) : readUserName(named);
  return hubRequest(hub, 'logins.create', user === null ? {} : { user });
}

/** null: the hub knows it by the token. */
async function ownUser(hub: HubTarget): Promise<UserName | null> {
  const me = await hubRequest(hub, 'me.show', {});
  if (me.kind === 'user') return null;
  const { users } = await hubRequest(hub, 'users.list', {});
  const admin = users.find(({ role, disabled }) => role === 'admin' && !disabled);
  if (admin !== undefined) return admin.name;
  return (await hubRequest(hub, 'users.create', { name: nameOfPerson(), role: 'admin' })).name;
}

export function readUserName(text: string): UserName {
  const parsed = UserName.safeParse(text);
  if (!parsed.success) throw new UsageError('a user name is 1-32 of a-z 0-9 . _ -, and starts with a letter');
  return parsed.data;
}

/** Who runs this, in the letters of a user's name. */
function nameOfPerson(): UserName {
  const plain = userInfo()
    .username.toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .slice(0, 32);
  return UserName.safeParse(plain).data ?? UserName.parse('admin');
}
