/** `roost hub user` and `roost hub token`: who may use the hub, and with what. */
import type { Command } from 'commander';
import {
  HubRole,
  TokenId,
  type HubParamsInput,
  type HubScope,
  type HubToken,
  type HubUser,
} from '@roost/protocol';
import type { HubTarget } from '@roost/client';
import type { CommandContext } from '../../command-context.ts';
import { readUserName } from '../../hub/login-link.ts';
import { UsageError } from '../../usage-error.ts';

const JSON_HELP = 'print one JSON document';
const NODE_HELP = 'only this node, or NODE:WORKSPACE; may be given several times';

interface BoundsOptions {
  readonly role?: string;
  readonly node?: string[];
}

export function defineAccess(command: Command, context: CommandContext): void {
  defineUsers(command.command('user').description('who may use the hub'), context);
  defineTokens(command.command('token').description('with what programs log in'), context);
}

function defineUsers(command: Command, context: CommandContext): void {
  command
    .command('ls', { isDefault: true })
    .description('list the users')
    .option('--json', JSON_HELP)
    .action(async ({ json }: { json?: boolean }) => {
      const { hubRequest } = await import('@roost/client');
      const { users } = await hubRequest(await context.requireHub(), 'users.list', {});
      if (json === true) context.printJson(users);
      else for (const user of users) context.print(describeUser(user));
    });
  command
    .command('add')
    .description('make a user')
    .argument('<name>')
    .option('--role <role>', 'observer, operator or admin', 'operator')
    .option('--node <node>', NODE_HELP, collect)
    .action(async (name: string, options: BoundsOptions) => {
      const { hubRequest } = await import('@roost/client');
      const hub = await context.requireHub();
      const scope = await readScope(hub, options.node);
      const role = readRole(options.role ?? 'operator');
      const user = await hubRequest(hub, 'users.create', { name: readUserName(name), role, scope });
      context.print(describeUser(user));
      context.note(`roost hub login ${user.name}   prints a link for their browser`);
    });
  command
    .command('set')
    .description('change what a user may do')
    .argument('<name>')
    .option('--role <role>', 'observer, operator or admin')
    .option('--node <node>', NODE_HELP, collect)
    .option('--all-nodes', 'every node')
    .option('--disable', 'they may not log in any more')
    .option('--enable', 'they may log in again')
    .action(
      async (
        name: string,
        options: BoundsOptions & { allNodes?: boolean; disable?: boolean; enable?: boolean },
      ) => {
        const { hubRequest } = await import('@roost/client');
        const hub = await context.requireHub();
        const change: HubParamsInput<'users.change'> = { name: readUserName(name) };
        if (options.role !== undefined) change.role = readRole(options.role);
        if (options.allNodes === true) change.scope = null;
        else if (options.node !== undefined) change.scope = await readScope(hub, options.node);
        if (options.disable === true) change.disabled = true;
        if (options.enable === true) change.disabled = false;
        context.print(describeUser(await hubRequest(hub, 'users.change', change)));
      },
    );
  command
    .command('rm')
    .description('remove a user with their tokens')
    .argument('<name>')
    .action(async (name: string) => {
      const { hubRequest } = await import('@roost/client');
      await hubRequest(await context.requireHub(), 'users.remove', { name: readUserName(name) });
      context.print(`${name} is removed`);
    });
}

function defineTokens(command: Command, context: CommandContext): void {
  command
    .command('ls', { isDefault: true })
    .description('list the tokens')
    .option('--json', JSON_HELP)
    .action(async ({ json }: { json?: boolean }) => {
      const { hubRequest } = await import('@roost/client');
      const { tokens } = await hubRequest(await context.requireHub(), 'tokens.list', {});
      if (json === true) context.printJson(tokens);
      else for (const token of tokens) context.print(describeToken(token));
    });
  command
    .command('create')
    .description('make a token, and print it once')
    .argument('<label>', 'what it is for')
    .option('--user <name>', 'whose it is; yours unless given')
    .option('--role <role>', 'no more than this: observer, operator or admin')
    .option('--node <node>', NODE_HELP, collect)
    .option('--days <days>', 'how long it is good for')
    .action(async (label: string, options: BoundsOptions & { user?: string; days?: string }) => {
      const { hubRequest, hubStatus } = await import('@roost/client');
      const hub = await context.requireHub();
      const scope = await readScope(hub, options.node);
      const { url } = await hubStatus(hub);
      const { token, secret } = await hubRequest(hub, 'tokens.create', {
        label,
        scope,
        ...(options.user === undefined ? {} : { user: readUserName(options.user) }),
        ...(options.role === undefined ? {} : { role: readRole(options.role) }),
        ...(options.days === undefined ? {} : { expiresInDays: readDays(options.days) }),
      });
      context.print(secret);
      context.note(`${describeToken(token)}; it is not shown again`);
      if (url !== undefined) context.note(`roost login ${url}   uses it elsewhere; it asks for the token`);
    });
  command
    .command('revoke')
    .description('end a token')
    .argument('<id>')
    .action(async (id: string) => {
      const tokenId = TokenId.safeParse(id).data;
      if (tokenId === undefined)
        throw new UsageError('a token id is 16 hexadecimal digits: roost hub token ls');
      const { hubRequest } = await import('@roost/client');
      await hubRequest(await context.requireHub(), 'tokens.revoke', { tokenId });
      context.print(`${tokenId} is revoked`);
    });
}

function collect(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value];
}

function readRole(text: string): HubRole {
  const role = HubRole.safeParse(text).data;
  if (role === undefined) throw new UsageError(`--role is one of ${HubRole.options.join(', ')}`);
  return role;
}

function readDays(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw new UsageError('--days is a number of days');
  return Number(text);
}

/** `NODE` or `NODE:WORKSPACE`, nodes by name or id. null: every node. */
async function readScope(hub: HubTarget, words: readonly string[] | undefined): Promise<HubScope | null> {
  if (words === undefined) return null;
  const { hubRequest } = await import('@roost/client');
  const workspaces = new Map<HubScope[number]['nodeId'], Set<string> | null>();
  for (const word of words) {
    const [node = '', workspace] = word.split(':', 2);
    const { id } = await hubRequest(hub, 'nodes.show', { node });
    if (workspace === undefined) workspaces.set(id, null);
    else if (workspaces.get(id) !== null)
      workspaces.set(id, new Set([...(workspaces.get(id) ?? []), workspace]));
  }
  return [...workspaces].map(([nodeId, ids]) => ({
    nodeId,
    // The hub holds them against its schema.
    workspaceIds: ids === null ? null : ([...ids] as NonNullable<HubScope[number]['workspaceIds']>),
  }));
}

function describeUser({ name, role, scope, disabled }: HubUser): string {
  return `${name}  ${role}${describeScope(scope)}${disabled ? '  disabled' : ''}`;
}

function describeToken({ id, user, label, role, scope, expiresAt }: HubToken): string {
  return `${id}  ${user}  ${label}  ${role}${describeScope(scope)}  until ${expiresAt.slice(0, 10)}`;
}

function describeScope(scope: HubScope | null): string {
  if (scope === null) return '';
  return `  at ${scope.map(({ nodeId, workspaceIds }) => (workspaceIds === null ? nodeId : `${nodeId}:${workspaceIds.join(',')}`)).join(' ')}`;
}
