/** `roost history`: the sessions that agents keep on this machine, whether Roost started them or not. */
import type { Command } from 'commander';
import {
  HISTORY_PAGE_MAX,
  HISTORY_PREVIEW_DEFAULT,
  HISTORY_PREVIEW_MAX,
  type HistoryCursor,
  type HistoryEntry,
  type HistoryScope,
  type Result,
} from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import {
  HISTORY_COLUMNS,
  historyFacts,
  historyRow,
  messageText,
  skippedText,
  usageText,
} from '../history-view.ts';
import { readCount, readHistorySelector, readName, readProvider } from '../operands.ts';
import { paletteFor } from '../paint.ts';
import { printable } from '../printable.ts';
import { layOutTable } from '../table.ts';
import { UsageError } from '../usage-error.ts';
import { readWorkspace } from '../workspace-path.ts';

/** Sessions shown when no count is named. */
const SESSIONS_DEFAULT = 30;
/** The most that one command shows: more than a person looks through, and a program asks in pages. */
const SESSIONS_MAX = 100_000;
/** Milliseconds: the first look of a node at ten thousands of sessions reads all of them. */
const LOOK_TIMEOUT_MS = 60_000;

interface ListOptions {
  readonly workspace?: string;
  readonly all?: boolean;
  readonly limit?: string;
  readonly json?: boolean;
}

interface ShowOptions {
  readonly limit?: string;
  readonly whole?: boolean;
  readonly json?: boolean;
}

const SELECTOR = 'its id, or a unique beginning of it; roost history ls   lists them';
const JSON_HELP = 'print one JSON document';

export function define(command: Command, context: CommandContext): void {
  command
    .command('ls')
    .description('list sessions that agents keep, the newest first')
    .argument('[provider]', 'only those of this agent')
    .option('--workspace <id>', 'only those of this workspace (default: the one around this directory)')
    .option('--all', 'those of all places, registered or not')
    .option('-n, --limit <count>', `how many (default: ${SESSIONS_DEFAULT})`)
    .option('--json', JSON_HELP)
    .action((provider: string | undefined, options: ListOptions) => list(context, provider, options));

  command
    .command('show')
    .description('the newest messages of one')
    .argument('<session>', SELECTOR)
    .option(
      '-n, --limit <count>',
      `how many messages, at most ${HISTORY_PREVIEW_MAX} (default: ${HISTORY_PREVIEW_DEFAULT})`,
    )
    .option('--whole', 'all messages, and the tokens that were used')
    .option('--json', JSON_HELP)
    .action((selector: string, options: ShowOptions) => show(context, selector, options));

  command
    .command('adopt')
    .description('make a record of one, so that roost resume runs it on')
    .argument('<session>', SELECTOR)
    .option('--name <name>', 'what to call it (default: after the agent)')
    .option('--json', JSON_HELP)
    .action(async (selector: string, options: { name?: string; json?: boolean }) => {
      const name = options.name === undefined ? {} : { name: readName(options.name) };
      const { id: historyId } = await resolve(context, selector);
      const record = await (await context.node()).request('history.adopt', { historyId, ...name });
      if (options.json === true) context.printJson(record);
      else {
        context.print(`${record.name} ${record.id}`);
        context.note(`roost resume ${record.name}   runs it on`);
      }
    });
}

async function resolve(context: CommandContext, selector: string): Promise<HistoryEntry> {
  const wanted = readHistorySelector(selector);
  return (await context.node()).request(
    'history.resolve',
    { selector: wanted },
    { timeoutMs: LOOK_TIMEOUT_MS },
  );
}

async function list(
  context: CommandContext,
  provider: string | undefined,
  options: ListOptions,
): Promise<void> {
  const limit = readCount(options.limit ?? String(SESSIONS_DEFAULT), SESSIONS_MAX);
  if (limit === 0) throw new UsageError('--limit is at least 1');
  const named = provider === undefined ? {} : { provider: readProvider(provider) };
  const scope = await readScope(context, options);
  const { entries, ...page } = await ask(context, { ...named, scope }, limit);
  if (options.json === true) {
    context.printJson({ ...page, entries });
    return;
  }
  const { stdout, env } = context.terminal;
  const palette = paletteFor(stdout, env);
  if (entries.length > 0) {
    const now = Date.now();
    const rows = entries.map((entry) => historyRow(entry, now, palette));
    const width = stdout.isTTY ? stdout.columns : Number.POSITIVE_INFINITY;
    const [header = '', ...lines] = layOutTable(HISTORY_COLUMNS, rows, width);
    context.print([palette.strong(header), ...lines].join('\n'));
  } else
    context.note(
      scope.kind === 'all' ? 'no sessions' : 'no sessions here; --all   shows those of all places',
    );
  if (page.remaining > 0) context.note(`${page.remaining} more with: --limit ${limit + page.remaining}`);
  const skipped = skippedText(page.skipped);
  if (skipped !== null) context.note(skipped);
  if (page.incomplete) context.note('some were not looked at');
}

/** All pages as one. */
async function ask(
  context: CommandContext,
  question: { readonly provider?: string; readonly scope: HistoryScope },
  limit: number,
): Promise<Result<'history.list'>> {
  const connection = await context.node();
  const next = (left: number, cursor: HistoryCursor | null) =>
    connection.request(
      'history.list',
      { ...question, limit: Math.min(left, HISTORY_PAGE_MAX), ...(cursor === null ? {} : { cursor }) },
      { timeoutMs: LOOK_TIMEOUT_MS },
    );
  let page = await next(limit, null);
  const entries = [...page.entries];
  while (page.nextCursor !== null && entries.length < limit) {
    page = await next(limit - entries.length, page.nextCursor);
    entries.push(...page.entries);
  }
  return { ...page, entries };
}

async function readScope(context: CommandContext, { workspace, all }: ListOptions): Promise<HistoryScope> {
  if (all === true) {
    if (workspace !== undefined) throw new UsageError('--workspace and --all exclude each other');
    return { kind: 'all' };
  }
  return { kind: 'workspace', workspaceId: await readWorkspace(context, workspace) };
}

async function show(context: CommandContext, selector: string, options: ShowOptions): Promise<void> {
  const limit = readCount(options.limit ?? String(HISTORY_PREVIEW_DEFAULT), HISTORY_PREVIEW_MAX);
  if (limit === 0) throw new UsageError('--limit is at least 1');
  const { id: historyId } = await resolve(context, selector);
  const { stdout, env } = context.terminal;
  const palette = paletteFor(stdout, env);
  const connection = await context.node();
  const printHead = (entry: HistoryEntry) => {
    for (const [name, value] of historyFacts(entry)) context.print(`${name.padEnd(16)}${printable(value)}`);
  };
  if (options.whole === true) {
    const read = await readWhole(context, historyId);
    if (options.json === true) {
      context.printJson(read);
      return;
    }
    printHead(read.entry);
    for (const message of read.messages) context.print(`\n${messageText(message, palette)}`);
    if (read.usage !== null) context.note(usageText(read.usage));
    if (read.skippedLines > 0) context.note(`lines that were passed over: ${read.skippedLines}`);
    return;
  }
  const preview = await connection.request('history.preview', { historyId, limit });
  if (options.json === true) {
    context.printJson(preview);
    return;
  }
  printHead(preview.entry);
  for (const message of preview.messages) context.print(`\n${messageText(message, palette)}`);
  if (preview.hasEarlier) context.note('there are earlier ones; --whole   shows all');
}

async function readWhole(
  context: CommandContext,
  historyId: HistoryEntry['id'],
): Promise<Omit<Result<'history.read'>, 'nextCursor' | 'first'>> {
  const connection = await context.node();
  const options = { timeoutMs: LOOK_TIMEOUT_MS };
  let page = await connection.request('history.read', { historyId }, options);
  const messages = [...page.messages];
  while (page.nextCursor !== null) {
    page = await connection.request('history.read', { historyId, cursor: page.nextCursor }, options);
    messages.push(...page.messages);
  }
  const { nextCursor: _, first: __, ...whole } = page;
  return { ...whole, messages };
}
