/** `roost ls`: the sessions as a table that fits the terminal. */
import type { Command } from 'commander';
import type { Session } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
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
    .action(async (options: { all?: boolean; json?: boolean }) => {
      const connection = await context.node();
      const { sessions, truncated } = await connection.request('session.list', {
        includeEnded: options.all === true,
        withUsage: true,
      });
      if (options.json === true) {
        context.printJson(sessions);
        return;
      }
      const { stdout, env } = context.terminal;
      if (sessions.length === 0) {
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
      const rows = sessions.map((session) => rowOf(session, now, palette));
      const [header = '', ...lines] = layOutTable(COLUMNS, rows, width);
      context.print([palette.strong(header), ...lines].join('\n'));
      if (truncated) context.note('there are more sessions than one list holds');
    });
}

function rowOf(session: Session, now: number, palette: Palette): Cell[] {
  const { usage } = session;
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
    { text: session.title ?? '', paint: palette.faint },
  ];
}
