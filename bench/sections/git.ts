import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Context } from '../context.ts';
import { Samples, type SectionResult, type Verdict } from '../result.ts';
import { percentile } from '../statistics.ts';
import { RoostSubject } from '../subjects/roost.ts';

/** Milliseconds that the node may take longer than git by itself. */
const MORE_MS = 30;
const WARM_UP = 3;
/** Files that differ from the last commit. */
const CHANGED = 50;
const SMALL_FILES = 1_000;

const STATUS = ['status', '--porcelain=v2', '-z', '--branch', '--untracked-files=normal', '--', '.'];
const DIFF = ['diff', 'HEAD'];

const run = promisify(execFile);

export async function measureGit(context: Context): Promise<SectionResult> {
  const samples = new Samples();
  const verdicts: Verdict[] = [];
  const roost = context.subjects.find((subject) => subject instanceof RoostSubject);
  if (roost !== undefined) {
    // All of them before the first request: making one takes so long that the node would give up a connection meanwhile.
    const repositories = [SMALL_FILES, context.scale.gitFiles].map((files) => ({
      root: makeRepository(join(context.scratch, `files-${files}`), files),
      files,
    }));
    for (const { root, files } of repositories) {
      verdicts.push(...(await measureRepository(context, samples, roost, { root, files })));
    }
  }
  return {
    id: 'j',
    title: 'Git through the node, and by itself',
    method:
      `${context.scale.gitReads} times each in turn: \`git status\` and \`git diff HEAD\` as processes of the bench, \`git.status\` and ` +
      `\`git.diff\` (the same comparison) as requests. ${CHANGED} files are changed.`,
    measurements: samples.measurements,
    verdicts,
  };
}

async function measureRepository(
  { scale, progress }: Context,
  samples: Samples,
  roost: RoostSubject,
  { root, files }: { readonly root: string; readonly files: number },
): Promise<Verdict[]> {
  const connection = await roost.connection();
  const { id: workspaceId } = await connection.request('workspace.register', { root });
  // What `git diff` compares, too: it does not look for untracked files.
  const what = { kind: 'since', base: 'HEAD', includeUntracked: false } as const;
  const pairs = [
    ['status', () => git(root, STATUS), () => connection.request('git.status', { workspaceId })],
    ['diff', () => git(root, DIFF), () => connection.request('git.diff', { workspaceId, what })],
  ] as const;
  const verdicts: Verdict[] = [];
  for (const [name, plain, asked] of pairs) {
    const taken = { plain: [] as number[], asked: [] as number[] };
    for (let index = -WARM_UP; index < scale.gitReads; index += 1) {
      const times = [await timed(plain), await timed(asked)] as const;
      if (index < 0) continue;
      taken.plain.push(times[0]);
      taken.asked.push(times[1]);
    }
    const row = `${name} of ${files} files`;
    const [own, through] = [percentile(taken.plain, 0.5), percentile(taken.asked, 0.5)];
    samples.add(`${row}, git by itself, p50`, 'ms', 'roost', own);
    samples.add(`${row}, through the node, p50`, 'ms', 'roost', through);
    samples.add(`${row}, through the node, p95`, 'ms', 'roost', percentile(taken.asked, 0.95));
    progress(`git ${row}: ${own.toFixed(1)} ms by itself, ${through.toFixed(1)} ms through the node`);
    verdicts.push({
      target: `${row}: at most ${MORE_MS} ms more than git by itself`,
      measured: `${(through - own).toFixed(1)} ms`,
      met: through - own <= MORE_MS,
    });
  }
  return verdicts;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function git(root: string, args: readonly string[]): Promise<unknown> {
  return run('git', ['--no-pager', '-C', root, ...args], { env: environment(), maxBuffer: 64 * 1024 * 1024 });
}

function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, HOME: '/nonexistent', GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' };
}

/** So many files in directories of a hundred, committed and checked out; some of them changed afterwards. */
function makeRepository(root: string, files: number): string {
  mkdirSync(root, { recursive: true });
  const tell = (args: readonly string[]) =>
    execFileSync(
      'git',
      [
        '-C',
        root,
        '-c',
        'gc.auto=0',
        '-c',
        'maintenance.auto=false',
        '-c',
        'user.name=b',
        '-c',
        'user.email=b@example.org',
        ...args,
      ],
      {
        env: environment(),
        stdio: 'ignore',
      },
    );
  tell(['init', '-q']);
  for (let index = 0; index < files; index += 1) {
    const directory = join(root, `d${Math.floor(index / 100)}`);
    if (index % 100 === 0) mkdirSync(directory);
    writeFileSync(join(directory, `file-${index}.txt`), `${index}\n`);
  }
  tell(['add', '.']);
  tell(['commit', '-q', '-m', 'all']);
  for (let index = 0; index < CHANGED; index += 1) {
    writeFileSync(
      join(
        root,
        `d${index % Math.ceil(files / 100)}`,
        `file-${(index % Math.ceil(files / 100)) * 100 + index}.txt`,
      ),
      'changed\n',
    );
  }
  return root;
}
