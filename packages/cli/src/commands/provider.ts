/** `roost provider`: the agents that can be run by name, whether they are on this machine, and what to do about it. */
import type { Command } from 'commander';
import { FailureError, type ProviderReport, type Result } from '@roost/protocol';
import { checkProvider, listProviders } from '../ask-providers.ts';
import type { CommandContext } from '../command-context.ts';
import { paletteFor } from '../paint.ts';
import { printable } from '../printable.ts';
import {
  findingText,
  rangeText,
  STATE_TEXT,
  stateNote,
  transportText,
  versionText,
} from '../provider-view.ts';
import { layOutTable, type Column } from '../table.ts';

const COLUMNS: readonly Column[] = [
  { title: 'NAME' },
  { title: 'STATE' },
  { title: 'VERSION', shrinksTo: 8 },
  { title: 'LOGIN' },
  { title: 'PATH', shrinksTo: 8 },
];

export function define(command: Command, context: CommandContext): void {
  command
    .command('ls')
    .description('list the agents that can be run by name, looked up anew')
    .option('--json', 'print one JSON document')
    .action(async (options: { json?: boolean }) => {
      const answer = await listProviders(context);
      if (options.json === true) context.printJson(answer);
      else await printTable(context, answer);
    });

  command
    .command('show')
    .description('what is known of one')
    .argument('<name>', 'which one')
    .option('--json', 'print one JSON document')
    .action(async (name: string, options: { json?: boolean }) => {
      const answer = await listProviders(context);
      const provider = answer.providers.find(({ id }) => id === name);
      if (provider === undefined) {
        for (const { file, fault } of answer.faults ?? []) {
          if (file === `${name}.json`) context.note(printable(`${file}: ${fault}`));
        }
        throw new FailureError('unknown-provider', { provider: name });
      }
      if (options.json === true) context.printJson(provider);
      else printFacts(context, provider);
    });

  command
    .command('check')
    .description('look for one and ask it for its version again; say what to do')
    .argument('<name>', 'which one')
    .option('--json', 'print one JSON document')
    .action(async (name: string, options: { json?: boolean }) => {
      const answer = await checkProvider(context, name);
      if (options.json === true) context.printJson(answer);
      else {
        const { stdout, env } = context.terminal;
        const palette = paletteFor(stdout, env);
        const paints = { ok: palette.good, warn: palette.warn, fail: palette.bad };
        for (const finding of answer.findings) {
          const mark = paints[finding.level](finding.level.padEnd(4));
          context.print(`${mark}  ${printable(findingText(finding, answer.provider))}`);
        }
      }
      if (answer.findings.some(({ level }) => level === 'fail')) context.exitCode = 1;
    });
}

async function printTable(
  context: CommandContext,
  { providers, faults = [] }: Result<'provider.list'>,
): Promise<void> {
  const { stdout, env } = context.terminal;
  const palette = paletteFor(stdout, env);
  const rows = providers.map(({ id, installed, discovery }) => [
    { text: id, paint: palette.strong },
    { text: discovery === undefined ? (installed ? 'installed' : 'not found') : STATE_TEXT[discovery.state] },
    { text: discovery?.version ?? '-' },
    { text: installed ? (discovery?.login ?? '-') : '-' },
    { text: discovery?.path ?? '-', paint: palette.faint },
  ]);
  const width = stdout.isTTY ? stdout.columns : Number.POSITIVE_INFINITY;
  const [header = '', ...lines] = layOutTable(COLUMNS, rows, width);
  context.print([palette.strong(header), ...lines].join('\n'));
  for (const { id, discovery } of providers) {
    const note = discovery === undefined ? null : stateNote(discovery);
    if (note !== null) context.note(printable(`${id}: ${note}`));
  }
  const home = await context.home();
  for (const { file, fault } of faults) context.note(printable(`${home}/providers/${file}: ${fault}`));
  if (providers.every(({ id, installed }) => id === 'shell' || !installed)) {
    context.note('no agent was found; roost provider check NAME   tells how to install one');
  }
}

function printFacts(context: CommandContext, { id, displayName, discovery }: ProviderReport): void {
  const facts: [string, string | null | undefined][] = [
    ['provider', id === displayName ? id : `${id}, ${displayName}`],
    ['from', discovery?.origin === 'user' ? `providers/${id}.json` : null],
  ];
  if (discovery !== undefined) {
    const { program, known, transports, options } = discovery;
    facts.push(
      ['state', STATE_TEXT[discovery.state]],
      ['note', stateNote(discovery)],
      ['path', discovery.path],
      ['program', program],
      ['version', versionText(discovery)],
      ['known versions', known === null ? null : rangeText(known)],
      ['login', discovery.login],
      ['terminal', transportText(transports.pty)],
      ['pipe', transportText(transports.pipe)],
    );
    for (const [name, values] of Object.entries(options)) {
      facts.push(['option', `${name}: ${values === null ? 'any value' : values.join(', ')}`]);
    }
  }
  for (const [name, value] of facts) {
    if (value !== null && value !== undefined) context.print(`${name.padEnd(16)}${printable(value)}`);
  }
}
