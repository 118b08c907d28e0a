/** `roost attention`: the sessions that wait for a person, those that cannot go on first, and the longest waiting first. */
import type { Command } from 'commander';
import type { EventCursor } from '@roost/client';
import type { PlacedSession, Session } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import { severalNodes } from '../hub/several-nodes.ts';
import { paletteFor } from '../paint.ts';
import { describeAge } from '../quantities.ts';
import { desktopNotification } from '../desktop-notification.ts';
import { interruption } from '../interruption.ts';
import { printable } from '../printable.ts';
import { describeStatus, statusPaint } from '../session-status.ts';
import { UsageError } from '../usage-error.ts';
import { layOutTable, type Column } from '../table.ts';

const COLUMNS: readonly Column[] = [
  { title: 'NAME', shrinksTo: 8 },
  { title: 'PROVIDER', shrinksTo: 6 },
  { title: 'WAITS WITH' },
  { title: 'SINCE', align: 'right' },
  { title: 'WORKSPACE', shrinksTo: 6 },
  { title: 'ABOUT', shrinksTo: 0 },
];

interface AttentionOptions {
  readonly watch?: boolean;
  readonly notify?: boolean;
  readonly json?: boolean;
}

export function define(command: Command, context: CommandContext): void {
  command
    .option('-w, --watch', 'go on, and tell of each session that comes to wait')
    .option('--notify', 'with --watch: show it on the desktop, through this terminal')
    .option('--json', 'print one JSON document; with --watch one a line')
    .action(async (options: AttentionOptions) => {
      if (options.notify === true && options.watch !== true) throw new UsageError('--notify needs --watch');
      if (options.watch !== true && (await severalNodes(context)) !== null) {
        await listOfHub(context, options.json === true);
        return;
      }
      const connection = await context.node();
      // Before the list: what changes meanwhile is told afterwards.
      const { last } = await connection.request('events.read', { after: -1, limit: 1 });
      const { incarnation } = await connection.request('node.status', {});
      const after = { sequence: last, incarnation };
      const { sessions } = await connection.request('session.list', {
        includeEnded: false,
        withUsage: false,
      });
      const waiting = sessions.filter(needsPerson).sort(byUrgency);
      if (options.watch === true) await watch(context, waiting, { ...options, after });
      else if (options.json === true) context.printJson(waiting);
      else list(context, waiting);
    });
}

/** Of all nodes. */
async function listOfHub(context: CommandContext, json: boolean): Promise<void> {
  const { hubRequest } = await import('@roost/client');
  const { sessions } = await hubRequest(await context.requireHub(), 'attention.list', {});
  if (json) context.printJson(sessions);
  else list(context, sessions);
}

type Waiting = Session | PlacedSession;

function list(context: CommandContext, waiting: readonly Waiting[]): void {
  if (waiting.length === 0) {
    context.note('nobody waits for you');
    return;
  }
  const { stdout, env } = context.terminal;
  const palette = paletteFor(stdout, env);
  const now = Date.now();
  const rows = waiting.map((session) => [
    { text: nameOf(session), paint: palette.strong },
    { text: session.provider },
    { text: describeStatus(session), paint: statusPaint(session, palette) },
    { text: describeAge(now - sinceOf(session)) },
    { text: session.workspaceId },
    { text: session.activity?.detail ?? titleOf(session), paint: palette.faint },
  ]);
  const width = stdout.isTTY ? stdout.columns : Number.POSITIVE_INFINITY;
  const [header = '', ...lines] = layOutTable(COLUMNS, rows, width);
  context.print([palette.strong(header), ...lines].join('\n'));
}

/** `NODE/NAME` in a list of several nodes. */
function nameOf(session: Waiting): string {
  return 'nodeName' in session ? `${session.nodeName}/${session.name}` : session.name;
}

function titleOf(session: Waiting): string {
  return 'title' in session ? (session.title ?? '') : '';
}

/** Those that wait now, then each that comes to wait, until it is interrupted. */
async function watch(
  context: CommandContext,
  waiting: readonly Session[],
  { notify, json, after }: AttentionOptions & { readonly after: EventCursor },
): Promise<void> {
  const { stdout, env } = context.terminal;
  const since = new Map(waiting.map((session) => [session.id, sinceOf(session)]));
  const tell = (session: Session): void => {
    const text = `${session.name} ${describeStatus(session)} ${session.activity?.detail ?? ''}`.trimEnd();
    context.print(json === true ? JSON.stringify(session) : printable(text));
    if (notify === true && stdout.isTTY) stdout.write(desktopNotification('roost', printable(text), env));
  };
  for (const session of waiting) tell(session);
  using stop = interruption();
  const { followEvents } = await import('@roost/client');
  const connect = () => context.connectAnew();
  for await (const item of followEvents({ connect, after, signal: stop.signal })) {
    if ('kind' in item || item.body.kind !== 'session-changed') continue;
    const { session } = item.body;
    if (!needsPerson(session)) since.delete(session.id);
    else if (since.get(session.id) !== sinceOf(session)) {
      since.set(session.id, sinceOf(session));
      tell(session);
    }
  }
}

function needsPerson({ activity }: Session): boolean {
  return activity?.state === 'blocked' || activity?.state === 'done';
}

const sinceOf = ({ activity, createdAt }: Waiting) => Date.parse(activity?.since ?? createdAt);

function byUrgency(one: Session, other: Session): number {
  const rank = ({ activity }: Session) => (activity?.state === 'blocked' ? 0 : 1);
  return rank(one) - rank(other) || sinceOf(one) - sinceOf(other);
}
