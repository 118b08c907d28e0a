/** `roost profile`: launches that have a name, in files `profiles/spawn/ID.json` of the state directory. */
import type { Command } from 'commander';
import { FailureError, type Result } from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import { paletteFor } from '../paint.ts';
import { printable } from '../printable.ts';
import { layOutTable, type Column } from '../table.ts';

const COLUMNS: readonly Column[] = [
  { title: 'ID' },
  { title: 'PROVIDER', shrinksTo: 6 },
  { title: 'TRANSPORT' },
  { title: 'REVISION', shrinksTo: 12 },
  { title: 'DESCRIPTION', shrinksTo: 0 },
];

export function define(command: Command, context: CommandContext): void {
  command
    .command('ls')
    .description('list the profiles, read anew')
    .option('--json', 'print one JSON document')
    .action(async (options: { json?: boolean }) => {
      const { profiles } = await readProfiles(context);
      if (options.json === true) {
        context.printJson(profiles);
        return;
      }
      if (profiles.length === 0) {
        context.note(`no profiles; ${await context.home()}/profiles/spawn/ID.json   would be one`);
        return;
      }
      const { stdout, env } = context.terminal;
      const palette = paletteFor(stdout, env);
      const rows = profiles.map((profile) => [
        { text: profile.id, paint: palette.strong },
        { text: profile.provider },
        { text: profile.transport },
        { text: profile.revision, paint: palette.faint },
        { text: profile.description ?? '' },
      ]);
      const width = stdout.isTTY ? stdout.columns : Number.POSITIVE_INFINITY;
      const [header = '', ...lines] = layOutTable(COLUMNS, rows, width);
      context.print([palette.strong(header), ...lines].join('\n'));
    });

  command
    .command('show')
    .description('what everybody may know of a profile: no prompt, no arguments')
    .argument('<profile>', 'its id')
    .option('--json', 'print one JSON document')
    .action(async (id: string, options: { json?: boolean }) => {
      const { profiles } = await readProfiles(context, id);
      const profile = profiles.find((one) => one.id === id);
      if (profile === undefined) throw new FailureError('unknown-spawn-profile', { profileId: id });
      if (options.json === true) {
        context.printJson(profile);
        return;
      }
      const facts: [string, string | undefined][] = [
        ['profile', profile.id],
        ['description', profile.description ?? undefined],
        ['revision', profile.revision],
        ['provider', `${profile.provider}, ${profile.transport}`],
        ['environment', profile.environmentProfile?.profileId],
      ];
      for (const [name, value] of facts) {
        if (value !== undefined) context.print(`${name.padEnd(16)}${printable(value)}`);
      }
    });
}

/** Says what is wrong with files: all of them, or the one of `id`. */
async function readProfiles(context: CommandContext, id?: string): Promise<Result<'profile.list'>> {
  const answer = await (await context.node()).request('profile.list', {});
  for (const { file, fault } of answer.faults) {
    if (id === undefined || file === `${id}.json`) context.note(printable(`${file}: ${fault}`));
  }
  return answer;
}
