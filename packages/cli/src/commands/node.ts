/** `roost node`: the nodes of a hub, and the hubs of this node. */
import type { Command } from 'commander';
import { HubId, NodeName, type HubMembership, type HubNode } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import { paletteFor, type Palette } from '../paint.ts';
import { printable } from '../printable.ts';
import { describeAge } from '../quantities.ts';
import { readSecret } from '../read-secret.ts';
import { layOutTable, type Cell, type Column } from '../table.ts';
import { UsageError } from '../usage-error.ts';

const JSON_HELP = 'print one JSON document';

const INVITATION = {
  ask: 'paste the code of the invitation (roost hub invite made it), then Enter; it is not shown',
  missing: 'no code was given; roost hub invite   makes one',
};

const COLUMNS: readonly Column[] = [
  { title: 'NAME', shrinksTo: 8 },
  { title: 'ID' },
  { title: 'LINK' },
  { title: 'SINCE', align: 'right' },
  { title: 'LIVE', align: 'right' },
  { title: 'BLOCKED', align: 'right' },
  { title: 'VERSION', shrinksTo: 5 },
  { title: 'WHY', shrinksTo: 0 },
];

export function define(command: Command, context: CommandContext): void {
  command
    .command('ls', { isDefault: true })
    .description('the nodes of the hub')
    .option('--json', JSON_HELP)
    .action(async ({ json }: { json?: boolean }) => {
      const { hubRequest } = await import('@roost/client');
      const { nodes } = await hubRequest(await context.requireHub(), 'nodes.list', {});
      if (json === true) context.printJson(nodes);
      else if (nodes.length === 0) context.note('no node has joined; roost hub invite   makes an invitation');
      else printNodes(context, nodes);
    });

  command
    .command('join')
    .description('let this node join a hub, with an invitation of it')
    .argument('<url>', 'where the hub is')
    .argument(
      '[code]',
      'of roost hub invite; - or none reads it from standard input, where nobody else sees it',
    )
    .option('--name <name>', 'what this node is called there')
    .option('--json', JSON_HELP)
    .action(async (url: string, given: string | undefined, options: { name?: string; json?: boolean }) => {
      const { name, json } = options;
      const nodeName = name === undefined ? {} : { nodeName: readNodeName(name) };
      const isHandedOver = given === undefined || given === '-';
      const code = isHandedOver ? await readSecret(context, INVITATION) : given;
      const joined = await (
        await context.node()
      ).request('hub.join', { url, code, ...nodeName }, { timeoutMs: 30_000 });
      if (json === true) context.printJson(joined);
      else context.print(`joined ${joined.url} as ${joined.nodeName}; ${describeMembership(joined)}`);
    });

  command
    .command('hubs')
    .description('the hubs that this node belongs to')
    .option('--json', JSON_HELP)
    .action(async ({ json }: { json?: boolean }) => {
      const { hubs } = await (await context.node()).request('hub.list', {});
      if (json === true) context.printJson(hubs);
      else if (hubs.length === 0)
        context.note('this node belongs to no hub; roost node join URL   joins one');
      for (const hub of json === true ? [] : hubs) {
        context.print(printable(`${hub.hubId}  ${hub.url}  as ${hub.nodeName}  ${describeMembership(hub)}`));
      }
    });

  command
    .command('leave')
    .description('end the membership of this node at a hub')
    .argument('<hub>', 'its id, or its URL')
    .action(async (wanted: string) => {
      const connection = await context.node();
      const { hubs } = await connection.request('hub.list', {});
      const found = hubs.find(({ hubId, url }) => hubId === wanted || url === wanted);
      const hubId = found?.hubId ?? HubId.safeParse(wanted).data;
      if (hubId === undefined) throw new UsageError(`'${wanted}' is no hub of this node: roost node hubs`);
      await connection.request('hub.leave', { hubId });
      context.print(`left ${found?.url ?? hubId}`);
    });

  command
    .command('rename')
    .description('give a node another name at the hub')
    .argument('<node>', 'name or id')
    .argument('<name>', 'the new one')
    .action(async (node: string, name: string) => {
      const { hubRequest } = await import('@roost/client');
      const renamed = await hubRequest(await context.requireHub(), 'nodes.rename', {
        node,
        name: readNodeName(name),
      });
      context.print(`${renamed.id} is called ${renamed.name}`);
    });

  command
    .command('rm')
    .description('end the enrolment of a node at the hub; its sessions go on')
    .argument('<node>', 'name or id')
    .action(async (node: string) => {
      const { hubRequest } = await import('@roost/client');
      const { nodeId } = await hubRequest(await context.requireHub(), 'nodes.remove', { node });
      context.print(`${nodeId} is enrolled no more`);
    });
}

function printNodes(context: CommandContext, nodes: readonly HubNode[]): void {
  const { stdout, env } = context.terminal;
  const palette = paletteFor(stdout, env);
  const now = Date.now();
  const width = stdout.isTTY ? stdout.columns : Number.POSITIVE_INFINITY;
  const [header = '', ...lines] = layOutTable(
    COLUMNS,
    nodes.map((node) => rowOf(node, now, palette)),
    width,
  );
  context.print([palette.strong(header), ...lines].join('\n'));
}

function rowOf({ id, name, link, sessions, version }: HubNode, now: number, palette: Palette): Cell[] {
  const paint = link.state === 'online' ? palette.good : palette.bad;
  return [
    { text: name, paint: palette.strong },
    { text: id, paint: palette.faint },
    { text: link.state, paint },
    { text: describeAge(now - Date.parse(link.since)) },
    { text: String(sessions.live) },
    { text: String(sessions.blocked) },
    { text: version ?? '-' },
    { text: link.reason ?? '', paint: palette.faint },
  ];
}

function describeMembership({ state, since, attempts }: HubMembership): string {
  const ago = describeAge(Date.now() - Date.parse(since));
  return state === 'online' ? `online since ${ago}` : `${state} since ${ago}, ${attempts} attempts`;
}

function readNodeName(text: string): NodeName {
  const parsed = NodeName.safeParse(text);
  if (!parsed.success)
    throw new UsageError('a node name is 1-64 of a-z 0-9 . _ -, and starts with a letter or digit');
  return parsed.data;
}
