/** `roost git`: what git says about a workspace, wherever its node is. Nothing in the repository is changed or run. */
import type { Command } from 'commander';
import {
  FailureError,
  GIT_HISTORY_PAGE_MAX,
  GitHistoryCursor,
  GitRevision,
  type GitCommit,
  type GitDiffTarget,
  type WorkspaceId,
} from '@roost/protocol';
import type { CommandContext } from '../command-context.ts';
import { printDiff, type DiffOptions } from '../diff-text.ts';
import { shortCommit, statusLines } from '../git-status-text.ts';
import { readCount } from '../operands.ts';
import { paletteFor, type Palette } from '../paint.ts';
import { printable } from '../printable.ts';
import { UsageError } from '../usage-error.ts';
import { readOptionalPath, readWorkspace } from '../workspace-path.ts';

/** Commits shown when no count is named. */
const COMMITS_DEFAULT = 20;

interface LogOptions {
  readonly limit?: string;
  readonly after?: string;
  readonly path?: string;
  readonly json?: boolean;
}

interface GitDiffOptions extends DiffOptions {
  readonly staged?: boolean;
  readonly commit?: string;
  readonly since?: string;
  readonly path?: string;
}

export function define(command: Command, context: CommandContext): void {
  const verb = (name: string, description: string) =>
    command
      .command(name)
      .description(description)
      .argument('[workspace]', 'its id (default: the one around the current directory)')
      .option('--json', 'print one JSON document');

  verb('status', 'branch, upstream and changed files').action(
    async (id: string | undefined, options: { json?: boolean }) => {
      const workspaceId = await readWorkspace(context, id);
      await showStatus(context, workspaceId, options.json === true);
    },
  );

  verb('log', 'commits, newest first')
    .option('-n, --limit <count>', `how many, at most ${GIT_HISTORY_PAGE_MAX} (default: ${COMMITS_DEFAULT})`)
    .option('--after <cursor>', 'go on where a page before ended')
    .option('--path <path>', 'only commits that changed it; from the root of the workspace')
    .action(async (id: string | undefined, options: LogOptions) => {
      const limit = readCount(options.limit ?? String(COMMITS_DEFAULT), GIT_HISTORY_PAGE_MAX);
      if (limit === 0) throw new UsageError('--limit is at least 1');
      await showLog(context, await readWorkspace(context, id), { ...options, limit });
    });

  verb('diff', 'what is not committed, or what a commit changed')
    .option('--staged', 'only what is staged, against the last commit')
    .option('--commit <commit>', 'what a commit changed')
    .option('--since <commit>', 'everything since a commit, untracked files included')
    .option('--stat', 'only numbers of lines')
    .option('--path <path>', 'only this file or directory; from the root of the workspace')
    .action(async (id: string | undefined, options: GitDiffOptions) => {
      const what = readTarget(options);
      const path = readOptionalPath(options.path);
      const workspaceId = await readWorkspace(context, id);
      const diff = await (await context.node()).request('git.diff', { workspaceId, what, ...path });
      printDiff(context, diff, options);
    });
}

async function showStatus(context: CommandContext, workspaceId: WorkspaceId, json: boolean): Promise<void> {
  const { status } = await (await context.node()).request('git.status', { workspaceId });
  if (json) {
    context.printJson(status);
    if (status.kind === 'unknown') context.exitCode = 1;
    return;
  }
  switch (status.kind) {
    case 'unknown':
      throw new FailureError(status.reason, { workspaceId });
    case 'not-a-repository':
      throw new FailureError('not-git-repository', { workspaceId });
    case 'repository': {
      const { stdout, env } = context.terminal;
      context.print(statusLines(status, paletteFor(stdout, env)).join('\n'));
      if (status.entriesCut) context.note('there are more changed files than one answer lists');
      if (status.unnameable > 0) {
        context.note(`left out because their names are no text: ${status.unnameable}`);
      }
    }
  }
}

async function showLog(
  context: CommandContext,
  workspaceId: WorkspaceId,
  options: Omit<LogOptions, 'limit'> & { readonly limit: number },
): Promise<void> {
  const path = readOptionalPath(options.path);
  const cursor = options.after === undefined ? undefined : readCursor(options.after);
  const page = await (
    await context.node()
  ).request('git.history', {
    workspaceId,
    limit: options.limit,
    ...path,
    ...(cursor === undefined ? {} : { cursor }),
  });
  if (options.json === true) {
    context.printJson(page);
    return;
  }
  const { stdout, env } = context.terminal;
  const palette = paletteFor(stdout, env);
  for (const commit of page.commits) context.print(commitLine(commit, palette));
  if (page.commits.length === 0) context.note('no commits');
  if (page.nextCursor !== null) context.note(`more with: --after ${page.nextCursor}`);
}

function commitLine(commit: GitCommit, palette: Palette): string {
  const { id, authoredAt, author, subject } = commit;
  const day = authoredAt?.slice(0, 10) ?? 'undated   ';
  return [palette.warn(shortCommit(id)), palette.faint(day), printable(author.name), printable(subject)].join(
    '  ',
  );
}

function readTarget({ staged, commit, since }: GitDiffOptions): GitDiffTarget {
  if ([staged === true, commit !== undefined, since !== undefined].filter(Boolean).length > 1) {
    throw new UsageError('--staged, --commit and --since exclude each other');
  }
  if (commit !== undefined) return { kind: 'commit', commit: readRevision(commit) };
  if (since !== undefined) return { kind: 'since', base: readRevision(since), includeUntracked: true };
  return { kind: staged === true ? 'staged' : 'working' };
}

function readRevision(text: string): string {
  const parsed = GitRevision.safeParse(text);
  if (!parsed.success) throw new UsageError(`'${text}' names no commit`);
  return parsed.data;
}

function readCursor(text: string): string {
  const parsed = GitHistoryCursor.safeParse(text);
  if (!parsed.success) throw new UsageError(`'${text}' is no cursor of a page before`);
  return parsed.data;
}
