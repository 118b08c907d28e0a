import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeConnection } from '@roost/client';
import type { WorkspaceId } from '@roost/protocol';
import type { Context } from '../context.ts';
import { Samples, type SectionResult, type Verdict } from '../result.ts';
import { percentile } from '../statistics.ts';
import { RoostSubject } from '../subjects/roost.ts';

const FILES_PER_DIRECTORY = 500;
/** Files of the repository that has many worktrees. */
const SMALL_FILES = 100;
const INSPECT = 'inspect a large repository';
const ANSWER = 'another answer meanwhile';
const POLL = 'looking at the worktrees';
const SHARE_MAX = 5;
const CLOCK_TICKS_PER_SECOND = 100;

export async function measureWorkspaces(context: Context): Promise<SectionResult> {
  const { scale } = context;
  const samples = new Samples();
  const roost = context.subjects.find((subject) => subject instanceof RoostSubject);
  if (roost !== undefined) {
    // Made before a connection is open: this process answers nobody while it waits for git.
    const large = makeRepository(join(context.scratch, 'large'), scale.repositoryFiles);
    context.progress(`workspaces: ${scale.repositoryFiles} files are there`);
    await measureInspections(context, samples, await roost.connection(), large);
    await measureLooks(context, samples, await roost.connection());
  }
  return {
    id: 'k',
    title: `A repository of ${scale.repositoryFiles} files, and ${scale.worktrees} worktrees that are kept up with`,
    method:
      `\`workspace.inspect\` ${scale.inspections} times in a row, while another request is asked again and again. Then somebody ` +
      `listens to events while nothing happens in the worktrees: processor time of the node and of every git that it starts, ` +
      `over ${scale.lookSeconds} s, as a part of one core.`,
    measurements: samples.measurements,
    verdicts: judge(samples),
  };
}

async function measureInspections(
  { scale, progress }: Context,
  samples: Samples,
  connection: NodeConnection,
  root: string,
): Promise<void> {
  const { id } = await connection.request('workspace.register', { root });
  const latencies: number[] = [];
  const others: number[] = [];
  for (let index = -1; index < scale.inspections; index += 1) {
    const startedAt = performance.now();
    const work = { isDone: false };
    const inspecting = connection.request('workspace.inspect', { workspaceId: id }).finally(() => {
      work.isDone = true;
    });
    const meanwhile: number[] = [];
    while (!work.isDone) meanwhile.push(await timeOf(() => connection.request('controller.show', {})));
    await inspecting;
    // The first one fills the caches of the system.
    if (index < 0) continue;
    latencies.push(performance.now() - startedAt);
    others.push(...meanwhile);
  }
  samples.add(`${INSPECT}, p50`, 'ms', 'roost', percentile(latencies, 0.5));
  samples.add(`${INSPECT}, p95`, 'ms', 'roost', percentile(latencies, 0.95));
  samples.add(
    `git status alone`,
    'ms',
    'roost',
    await timeOf(() => Promise.resolve(git(root, 'status', '--porcelain'))),
  );
  samples.add(`${ANSWER}, p99`, 'ms', 'roost', percentile(others, 0.99));
  samples.add(`${ANSWER}, worst`, 'ms', 'roost', percentile(others, 1));
  progress(`workspaces: inspect p95 ${percentile(latencies, 0.95).toFixed(0)} ms`);
  await connection.request('workspace.unregister', { workspaceId: id });
}

async function measureLooks(
  { scale, scratch, progress }: Context,
  samples: Samples,
  connection: NodeConnection,
): Promise<void> {
  const root = makeRepository(join(scratch, 'small'), SMALL_FILES);
  const ids: WorkspaceId[] = [];
  for (let index = 0; index < scale.worktrees; index += 1) {
    const target = join(scratch, `worktree-${index}`);
    git(root, 'worktree', 'add', '-q', '-b', `branch-${index}`, target);
    ids.push((await connection.request('workspace.register', { root: target })).id);
  }
  const { pid, lastEventSequence } = await connection.request('node.status', {});
  const idle = await shareOfCore(pid, scale.lookSeconds / 3);
  samples.add('nobody listens', '%', 'roost', idle);
  await connection.request('events.subscribe', { after: lastEventSequence });
  const untilAllKnown = await timeOf(() => allKnown(connection, ids));
  samples.add('every worktree was looked at once', 'ms', 'roost', untilAllKnown);
  await sleep(scale.lookSeconds * 500);
  const share = await shareOfCore(pid, scale.lookSeconds);
  samples.add(POLL, '%', 'roost', share);
  progress(`workspaces: ${scale.worktrees} worktrees cost ${share.toFixed(1)} % of a core`);
}

async function allKnown(connection: NodeConnection, ids: readonly WorkspaceId[]): Promise<void> {
  for (;;) {
    const { workspaces } = await connection.request('workspace.list', {});
    const known = workspaces.filter(({ id, git: told }) => ids.includes(id) && (told ?? null) !== null);
    if (known.length === ids.length) return;
    await sleep(100);
  }
}

/** Percent of one core that a process and its ended children took in that time. */
async function shareOfCore(pid: number, seconds: number): Promise<number> {
  const before = processorSeconds(pid);
  const startedAt = performance.now();
  await sleep(seconds * 1000);
  return ((processorSeconds(pid) - before) * 100_000) / (performance.now() - startedAt);
}

/** User and system time, its own and that of children it has waited for: fields 14 to 17 of proc(5). */
function processorSeconds(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return ticks / CLOCK_TICKS_PER_SECOND;
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function makeRepository(root: string, files: number): string {
  for (let index = 0; index < files; index += 1) {
    const directory = join(root, `part-${Math.floor(index / FILES_PER_DIRECTORY)}`, 'src');
    if (index % FILES_PER_DIRECTORY === 0) mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `file-${index}.txt`), `${index}\n`);
  }
  git(root, 'init', '-q', '--initial-branch=main');
  git(root, 'add', '-A');
  git(root, 'commit', '-q', '-m', 'all');
  return root;
}

function git(directory: string, ...args: string[]): string {
  const own = ['-c', 'user.name=Bench', '-c', 'user.email=bench@localhost', '-c', 'gc.auto=0'];
  const env = { PATH: process.env.PATH ?? '', HOME: directory, GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', [...own, '-C', directory, ...args], { encoding: 'utf8', env, maxBuffer: 1e9 });
}

function judge(samples: Samples): Verdict[] {
  const [share] = samples.of(POLL, 'roost') ?? [];
  if (share === undefined) return [];
  return [
    {
      target: `${POLL}: less than ${SHARE_MAX} % of one core`,
      measured: `${share.toFixed(1)} %`,
      met: share < SHARE_MAX,
    },
  ];
}
