/** `roost workspace`: the directories that sessions belong to, made, registered, looked into and forgotten. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import {
  FailureError,
  INSPECTED_DEPTH_MAX,
  type HostDirectoryListing,
  type Workspace,
} from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import { readCount, readWorkspaceId } from '../operands.ts';
import { paletteFor } from '../paint.ts';
import { printable } from '../printable.ts';
import { describeAge } from '../quantities.ts';
import { layOutTable, type Column } from '../table.ts';
import { canonicalDirectory, deepestAround } from '../workspace-around.ts';
import { describeCuts, describeWorkspaceGit, gitLines, treeLines } from '../workspace-view.ts';

const COLUMNS: readonly Column[] = [
  { title: 'ID' },
  { title: 'KIND' },
  { title: 'SESSIONS', align: 'right' },
  { title: 'AGE', align: 'right' },
  { title: 'GIT', shrinksTo: 12 },
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
        { text: describeWorkspaceGit(workspace.git ?? null) },
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

  command
    .command('new')
    .description('make an empty git repository, and register it')
    .argument('<path>', 'where nothing is yet, or an empty directory')
    .option('--branch <branch>', "its first branch (default: git's own choice)")
    .option('--id <id>', 'what to call it (default: from the name of the directory)')
    .option('--json', 'print one JSON document')
    .action(async (path: string, options: { branch?: string; id?: string; json?: boolean }) => {
      const root = resolve(context.terminal.directory, path);
      const { branch } = options;
      const workspaceId = options.id === undefined ? undefined : readWorkspaceId(options.id);
      const workspace = await (
        await context.node()
      ).request('workspace.createStandalone', {
        root,
        ...(workspaceId === undefined ? {} : { workspaceId }),
        ...(branch === undefined ? {} : { branch }),
      });
      if (options.json === true) context.printJson(workspace);
      else context.print(`${workspace.id} ${workspace.root}`);
    });

  command
    .command('inspect')
    .description('what git says of it, and what lies at its top')
    .argument('[workspace]', 'its id (default: the one around this directory)')
    .option('--json', 'print one JSON document')
    .action(async (id: string | undefined, options: { json?: boolean }) => {
      const { inspection, workspace } = await inspect(context, id);
      if (options.json === true) {
        context.printJson(inspection);
        return;
      }
      const palette = paletteFor(context.terminal.stdout, context.terminal.env);
      const { tree, git } = inspection;
      const title = `${palette.strong(workspace.id)} ${printable(workspace.root)}`;
      const top = treeLines(tree.entries, 1, palette);
      context.print([title, ...gitLines(git, palette), '', ...top].join('\n').trimEnd());
      for (const missing of describeCuts(tree, git)) context.note(missing);
    });

  command
    .command('tree')
    .description('its directories and files')
    .argument('[workspace]', 'its id (default: the one around this directory)')
    .option('--depth <levels>', `levels that are shown, at most ${INSPECTED_DEPTH_MAX}`)
    .option('--json', 'print one JSON document')
    .action(async (id: string | undefined, options: { depth?: string; json?: boolean }) => {
      const depth =
        options.depth === undefined ? INSPECTED_DEPTH_MAX : readCount(options.depth, INSPECTED_DEPTH_MAX);
      const { inspection } = await inspect(context, id);
      const { tree } = inspection;
      if (options.json === true) {
        const entries = tree.entries.filter(({ path }) => path.split('/').length <= depth);
        context.printJson({ ...tree, entries });
        return;
      }
      const palette = paletteFor(context.terminal.stdout, context.terminal.env);
      const lines = treeLines(tree.entries, depth, palette);
      if (lines.length > 0) context.print(lines.join('\n'));
      for (const missing of describeCuts(tree, null)) context.note(missing);
    });

  command
    .command('browse')
    .description("directories of the node's machine, to find a place to work in")
    .argument('[directory]', 'default: here', '.')
    .option('--json', 'print one JSON document')
    .action(async (directory: string, options: { json?: boolean }) => {
      const listing = await browse(context, resolve(context.terminal.directory, directory));
      if (options.json === true) {
        context.printJson(listing);
        return;
      }
      const palette = paletteFor(context.terminal.stdout, context.terminal.env);
      for (const { path, name, isLink } of listing.entries) {
        context.print(printable(path) + (isLink ? palette.faint(` (link ${printable(name)})`) : ''));
      }
      if (listing.incomplete) context.note('some could not be told');
    });
}

async function inspect(context: CommandContext, id: string | undefined) {
  const named = id === undefined ? undefined : readWorkspaceId(id);
  const node = await context.node();
  const { workspaces } = await node.request('workspace.list', {});
  const workspace =
    named === undefined ? around(context, workspaces) : workspaces.find((one) => one.id === named);
  if (workspace === undefined) {
    const details = named === undefined ? { directory: context.terminal.directory } : { workspaceId: named };
    throw new FailureError('unknown-workspace', details);
  }
  const inspection = await node.request('workspace.inspect', { workspaceId: workspace.id });
  return { workspace, inspection };
}

/** Looking registers nothing. */
function around(context: CommandContext, workspaces: readonly Workspace[]): Workspace | undefined {
  return deepestAround(canonicalDirectory(context.terminal.directory), workspaces);
}

/** All pages as one. */
async function browse(context: CommandContext, directory: string): Promise<HostDirectoryListing> {
  const node = await context.node();
  let page = await node.request('host.browseDirectories', { directory });
  const entries = [...page.entries];
  while (page.nextAfter !== null) {
    page = await node.request('host.browseDirectories', { directory, after: page.nextAfter });
    entries.push(...page.entries);
  }
  return { ...page, entries };
}
