/** `roost records`: the durable identities behind agent sessions, which outlive every run of them. */
import type { Command } from 'commander';
import type { SessionRecord } from '@roost/protocol';
import { allRecords } from '../all-records.ts';
import type { CommandContext } from '../command-context.ts';
import { forEachSelector } from '../each-selector.ts';
import { readName } from '../operands.ts';
import { paletteFor } from '../paint.ts';
import { printable } from '../printable.ts';
import { RECORD_COLUMNS, recordFacts, recordRow } from '../record-view.ts';
import { readInitialPrompt, resumeRecord } from '../resume-record.ts';
import { layOutTable } from '../table.ts';

interface JsonOption {
  readonly json?: boolean;
}

const SELECTORS = 'names, ids, or unique beginnings of ids';
const JSON_HELP = 'print one JSON document';

export function define(command: Command, context: CommandContext): void {
  command
    .command('ls')
    .description('list the records')
    .option('--json', JSON_HELP)
    .action((options: JsonOption) => list(context, options.json === true));

  command
    .command('show')
    .description('everything that is known of records')
    .argument('<record...>', SELECTORS)
    .option('--json', JSON_HELP)
    .action(async (selectors: string[], options: JsonOption) => {
      await forEachRecord(context, selectors, options, async (selector, isFirst) => {
        const record = await context.resolveRecord(selector);
        return { record, text: (isFirst ? '' : '\n') + factText(record) };
      });
    });

  command
    .command('rename')
    .description('give a record, and its live session, another name')
    .argument('<record>', 'name, id, or unique beginning of an id')
    .argument('<name>', 'the new name')
    .option('--json', JSON_HELP)
    .action(async (selector: string, name: string, options: JsonOption) => {
      const wanted = readName(name);
      const { id, name: before } = await context.resolveRecord(selector);
      const record = await (await context.node()).request('record.rename', { recordId: id, name: wanted });
      if (options.json === true) context.printJson(record);
      else context.print(`renamed ${before} to ${record.name}`);
    });

  command
    .command('forget')
    .description('forget records with their ended sessions; what the provider keeps stays')
    .argument('<record...>', SELECTORS)
    .option('--json', JSON_HELP)
    .action(async (selectors: string[], options: JsonOption) => {
      await forEachRecord(context, selectors, options, async (selector) => {
        const record = await context.resolveRecord(selector);
        await (await context.node()).request('record.forget', { recordId: record.id });
        return { record, text: `forgot ${record.name}` };
      });
    });

  command
    .command('resume')
    .description('run records on, without attaching; roost resume attaches')
    .argument('<record...>', SELECTORS)
    .option('-p, --prompt <text>', 'what to begin with')
    .option('--json', JSON_HELP)
    .action(async (selectors: string[], options: JsonOption & { prompt?: string }) => {
      const prompt = options.prompt === undefined ? undefined : readInitialPrompt(options.prompt);
      await forEachRecord(context, selectors, options, async (selector) => {
        const { record, session } = await resumeRecord(context, selector, { prompt });
        return { record, text: `${session.name} ${session.id}` };
      });
    });
}

async function list(context: CommandContext, json: boolean): Promise<void> {
  const records = await allRecords(await context.node());
  if (json) {
    context.printJson(records);
    return;
  }
  if (records.length === 0) {
    context.note('no records; roost run claude   makes one');
    return;
  }
  const { stdout, env } = context.terminal;
  const palette = paletteFor(stdout, env);
  const now = Date.now();
  const rows = records.map((record) => recordRow(record, now, palette));
  const width = stdout.isTTY ? stdout.columns : Number.POSITIVE_INFINITY;
  const [header = '', ...lines] = layOutTable(RECORD_COLUMNS, rows, width);
  context.print([palette.strong(header), ...lines].join('\n'));
}

/** With `--json` the records that it worked for, as one document. */
async function forEachRecord(
  context: CommandContext,
  selectors: readonly string[],
  { json }: JsonOption,
  act: (selector: string, isFirst: boolean) => Promise<{ record: SessionRecord; text: string }>,
): Promise<void> {
  const done: SessionRecord[] = [];
  await forEachSelector(context, selectors, async (selector) => {
    const { record, text } = await act(selector, done.length === 0);
    done.push(record);
    if (json !== true) context.print(text);
  });
  if (json === true) context.printJson(done);
}

function factText(record: SessionRecord): string {
  return recordFacts(record)
    .map(([name, value]) => `${name.padEnd(16)}${printable(value)}`)
    .join('\n');
}
