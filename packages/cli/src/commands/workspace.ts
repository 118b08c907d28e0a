/** `roost workspace`: the directories that sessions belong to. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { readWorkspaceId } from '../operands.ts';
import { paletteFor } from '../paint.ts';
import { describeAge } from '../quantities.ts';
import { layOutTable, type Column } from '../table.ts';

const COLUMNS: readonly Column[] = [
  { title: 'ID' },
  { title: 'KIND' },
  { title: 'SESSIONS', align: 'right' },
  { title: 'AGE', align: 'right' },
  { title: 'ROOT', shrinksTo: 12 },
];

export function define(command: Command, context: CommandContext): void {
  command
    .command('add')
    .description('register a directory')
    .argument('[directory]', 'default: here', '.')
    .option('--id <id>', 'what to call it (default: from the name of the directory)')
    .option('--json', 'print one JSON document')
    .action(async (directory: string, options: { id?: string; json?: boolean }) => {
      const root = resolve(context.terminal.directory, directory);
      const workspaceId = options.id === undefined ? undefined : readWorkspaceId(options.id);
      const workspace = await (
        await context.node()
      ).request('workspace.register', { root, ...(workspaceId === undefined ? {} : { workspaceId }) });
      if (options.json === true) context.printJson(workspace);
      else context.print(`${workspace.id} ${workspace.root}`);
    });

  command
    .command('ls')
    .description('list the registered directories')
    .option('--json', 'print one JSON document')
    .action(async (options: { json?: boolean }) => {
      const { workspaces } = await (await context.node()).request('workspace.list', {});
      if (options.json === true) {
        context.printJson(workspaces);
        return;
      }
      if (workspaces.length === 0) {
        context.note('no workspaces; roost workspace add DIR   registers one');
        return;
      }
      const { stdout, env } = context.terminal;
      const palette = paletteFor(stdout, env);
      const now = Date.now();
      const rows = workspaces.map((workspace) => [
        { text: workspace.id, paint: palette.strong },
        { text: workspace.kind },
        { text: String(workspace.liveSessions) },
        { text: describeAge(now - Date.parse(workspace.createdAt)) },
        { text: workspace.root },
      ]);
      const width = stdout.isTTY ? stdout.columns : Number.POSITIVE_INFINITY;
      const [header = '', ...lines] = layOutTable(COLUMNS, rows, width);
      context.print([palette.strong(header), ...lines].join('\n'));
    });

  command
    .command('rm')
    .description('forget a directory; nothing in it is touched')
    .argument('<workspace>', 'its id')
    .action(async (id: string) => {
      await (await context.node()).request('workspace.unregister', { workspaceId: readWorkspaceId(id) });
      context.print(`forgot ${id}`);
    });
}
