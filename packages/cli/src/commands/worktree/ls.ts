/** `roost worktree ls`: the worktrees of a repository, who lives in them, and what was begun and did not end. */
import type { Command } from 'commander';
import type { Result } from '@roost/protocol';
import type { CommandContext } from '../../command-context.ts';
import { shortCommit } from '../../git-status-text.ts';
import { paletteFor } from '../../paint.ts';
import { printable } from '../../printable.ts';
import { layOutTable, type Column } from '../../table.ts';
import { readWorkspace } from '../../workspace-path.ts';

const COLUMNS: readonly Column[] = [
  { title: 'BRANCH', shrinksTo: 8 },
  { title: 'HEAD' },
  { title: 'STATE', shrinksTo: 5 },
  { title: 'WORKSPACE', shrinksTo: 6 },
  { title: 'SESSIONS', shrinksTo: 5 },
  { title: 'PATH', shrinksTo: 12 },
];

type Listed = Result<'worktree.list'>;

export function defineLs(command: Command, context: CommandContext): void {
  command
    .command('ls')
    .description('list the worktrees of a repository')
    .argument('[workspace]', 'of which repository (default: the one around here)')
    .option('--json', 'print one JSON document')
    .action(async (workspace: string | undefined, options: { json?: boolean }) => {
      const connection = await context.node();
      // Looking registers nothing.
      const workspaceId = await readWorkspace(context, workspace);
      const listed = await connection.request('worktree.list', { workspaceId, withChanges: true });
      if (options.json === true) {
        context.printJson(listed);
        return;
      }
      const { stdout, env } = context.terminal;
      const palette = paletteFor(stdout, env);
      const rows = listed.worktrees.map((worktree) => [
        { text: worktree.branch ?? (worktree.isBare ? '(bare)' : '(detached)'), paint: palette.strong },
        { text: worktree.head === null ? '-' : shortCommit(worktree.head), paint: palette.faint },
        { text: stateOf(worktree) },
        { text: worktree.workspaceId ?? '-' },
        { text: worktree.sessions.map(({ name }) => name).join(' ') || '-' },
        { text: worktree.path },
      ]);
      const width = stdout.isTTY ? stdout.columns : Number.POSITIVE_INFINITY;
      const [header = '', ...lines] = layOutTable(COLUMNS, rows, width);
      context.print([palette.strong(header), ...lines].join('\n'));
      for (const recovery of listed.recoveries) context.note(recoveryText(recovery));
    });
}

function stateOf(worktree: Listed['worktrees'][number]): string {
  const states: string[] = [];
  if (worktree.isMain) states.push('main');
  if (worktree.prunable !== null) states.push('gone');
  if (worktree.locked !== null) states.push('locked');
  if (worktree.dirty === true) states.push('changed');
  return states.join(' ') || (worktree.dirty === null ? 'unknown' : 'clean');
}

const WHY: Readonly<Record<Listed['recoveries'][number]['why'], string>> = {
  running: 'git has not ended yet',
  incomplete: 'it stands there, but not as it should',
  foreign: 'something else stands there',
  unknown: 'it could not be looked at; the node log tells why',
};

function recoveryText({ act, path, why }: Listed['recoveries'][number]): string {
  const begun = act === 'create' ? 'making' : 'removing';
  return `${begun} ${printable(path)} did not end: ${WHY[why]}; roost worktree rm PATH   looks again`;
}
