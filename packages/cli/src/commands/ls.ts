/** `roost ls`: the sessions as a table that fits the terminal. */
import type { Command } from 'commander';
import type { HubNode, PlacedSession, Session } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import { severalNodes } from '../hub/several-nodes.ts';
import { paletteFor, type Palette } from '../paint.ts';
import { describeAge, describeBytes } from '../quantities.ts';
import { describeStatus, statusPaint } from '../session-status.ts';
import { layOutTable, type Cell, type Column } from '../table.ts';

/** Digits of an id that are shown: enough to be unique among some hundred sessions, few enough to type. */
const ID_DIGITS_SHOWN = 8;

const COLUMNS: readonly Column[] = [
  { title: 'ID' },
  { title: 'NAME', shrinksTo: 8 },
  { title: 'PROVIDER', shrinksTo: 6 },
  { title: 'STATUS' },
  { title: 'WORKSPACE', shrinksTo: 6 },
  { title: 'AGE', align: 'right' },
  { title: 'CLIENTS', align: 'right' },
  { title: 'CPU', align: 'right' },
  { title: 'MEM', align: 'right' },
  { title: 'TITLE', shrinksTo: 0 },
];

export function define(command: Command, context: CommandContext): void {
  command
    .option('-a, --all', 'ended sessions, too')
    .option('--json', 'print one JSON document')
    .action(async (options: ListOptions) => {
      const { rows, truncated, isAcross } = await listed(context, options);
      if (options.json === true) {
        context.printJson(rows.map(({ session }) => session));
        return;
      }
      const { stdout, env } = context.terminal;
      if (rows.length === 0) {
        context.note(
          options.all === true
            ? 'no sessions; roost run shell   starts one'
            : 'no live sessions; roost run shell   starts one, roost ls --all   shows ended ones',
        );
        return;
      }
      const palette = paletteFor(stdout, env);
      const width = stdout.isTTY ? stdout.columns : Number.POSITIVE_INFINITY;
      const now = Date.now();
      const cells = rows.map(({ session, node }) => [
        ...(isAcross ? [nodeCell(node, palette)] : []),
        ...rowOf(session, now, palette),
      ]);
      const columns = isAcross ? [{ title: 'NODE', shrinksTo: 6 }, ...COLUMNS] : COLUMNS;
      const [header = '', ...lines] = layOutTable(columns, cells, width);
      context.print([palette.strong(header), ...lines].join('\n'));
      if (truncated) context.note('there are more sessions than one list holds');
    });
}

interface ListOptions {
  readonly all?: boolean;
  readonly json?: boolean;
}

interface Row {
  readonly session: Session | PlacedSession;
  /** null: this machine, and nothing else is listed. */
  readonly node: HubNode | null;
}

interface Listed {
  readonly rows: readonly Row[];
  readonly truncated: boolean;
  /** Of all nodes of the hub. */
  readonly isAcross: boolean;
}

async function listed(context: CommandContext, { all, json }: ListOptions): Promise<Listed> {
  const params = { includeEnded: all === true, withUsage: true };
  const nodes = await severalNodes(context);
  if (nodes !== null) {
    const { allSessions } = await import('../hub/all-sessions.ts');
    const { rows, truncated } = await allSessions(await context.requireHub(), nodes, params);
    if (json !== true) return { rows, truncated, isAcross: true };
    // Programs learn of each where it is.
    const placed = rows.map(({ node, session }) => ({
      node,
      session: { ...session, nodeId: node.id, nodeName: node.name },
    }));
    return { rows: placed, truncated, isAcross: true };
  }
  const { sessions, truncated } = await (await context.node()).request('session.list', params);
  return { rows: sessions.map((session) => ({ session, node: null })), truncated, isAcross: false };
}

function nodeCell(node: HubNode | null, palette: Palette): Cell {
  if (node === null) return { text: '' };
  const isLive = node.link.state === 'online';
  return isLive ? { text: node.name } : { text: `${node.name} (${node.link.state})`, paint: palette.warn };
}

function rowOf(session: Session | PlacedSession, now: number, palette: Palette): Cell[] {
  const usage = 'usage' in session ? session.usage : null;
  const title = 'title' in session ? session.title : null;
  return [
    { text: session.id.slice(0, ID_DIGITS_SHOWN), paint: palette.faint },
    { text: session.name, paint: palette.strong },
    { text: session.provider },
    { text: describeStatus(session), paint: statusPaint(session, palette) },
    { text: session.workspaceId },
    { text: describeAge(now - Date.parse(session.createdAt)) },
    { text: String(session.attachedClients) },
    { text: usage === null ? '-' : `${Math.round(usage.cpuPercent)}%` },
    { text: usage === null ? '-' : describeBytes(usage.residentBytes) },
    { text: title ?? '', paint: palette.faint },
  ];
}
