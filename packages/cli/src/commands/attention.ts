/** `roost attention`: the sessions that wait for a person, those that cannot go on first, and the longest waiting first. */
import type { Command } from 'commander';
import type { Session } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import { paletteFor } from '../paint.ts';
import { describeAge } from '../quantities.ts';
import { describeStatus, statusPaint } from '../session-status.ts';
import { layOutTable, type Column } from '../table.ts';

const COLUMNS: readonly Column[] = [
  { title: 'NAME', shrinksTo: 8 },
  { title: 'PROVIDER', shrinksTo: 6 },
  { title: 'WAITS WITH' },
  { title: 'SINCE', align: 'right' },
  { title: 'WORKSPACE', shrinksTo: 6 },
  { title: 'ABOUT', shrinksTo: 0 },
];

export function define(command: Command, context: CommandContext): void {
  command.option('--json', 'print one JSON document').action(async (options: { json?: boolean }) => {
    const connection = await context.node();
    const { sessions } = await connection.request('session.list', { includeEnded: false, withUsage: false });
    const waiting = sessions.filter(needsPerson).sort(byUrgency);
    if (options.json === true) {
      context.printJson(waiting);
      return;
    }
    if (waiting.length === 0) {
      context.note('nobody waits for you');
      return;
    }
    const { stdout, env } = context.terminal;
    const palette = paletteFor(stdout, env);
    const now = Date.now();
    const rows = waiting.map((session) => [
      { text: session.name, paint: palette.strong },
      { text: session.provider },
      { text: describeStatus(session), paint: statusPaint(session, palette) },
      { text: describeAge(now - sinceOf(session)) },
      { text: session.workspaceId },
      { text: session.activity?.detail ?? session.title ?? '', paint: palette.faint },
    ]);
    const width = stdout.isTTY ? stdout.columns : Number.POSITIVE_INFINITY;
    const [header = '', ...lines] = layOutTable(COLUMNS, rows, width);
    context.print([palette.strong(header), ...lines].join('\n'));
  });
}

function needsPerson({ activity }: Session): boolean {
  return activity?.state === 'blocked' || activity?.state === 'done';
}

const sinceOf = ({ activity, createdAt }: Session) => Date.parse(activity?.since ?? createdAt);

function byUrgency(one: Session, other: Session): number {
  const rank = ({ activity }: Session) => (activity?.state === 'blocked' ? 0 : 1);
  return rank(one) - rank(other) || sinceOf(one) - sinceOf(other);
}
