import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, expect, it } from 'vitest';
import { processStart } from '@roost/keeper/processes';
import { WorkspaceId } from '@roost/protocol';
import { KeyedLocks } from '../control/keyed-locks.ts';
import { NO_FAULTS } from '../fault-points.ts';
import { openDatabase } from '../store/open-database.ts';
import { Store } from '../store/store.ts';
import { GitWorktrees } from './git-worktrees.ts';
import { insertIntent, listIntents, noteProcess } from './intent-table.ts';
import { Reservations } from './reservations.ts';
import { Settling } from './settling.ts';
import { TestRepository } from './repository-for-test.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0).reverse()) end();
});

function scene(leftGitMs?: number) {
  const repository = new TestRepository();
  ends.push(() => repository.remove());
  const directory = mkdtempSync(join(tmpdir(), 'roost-settling-'));
  ends.push(() => rmSync(directory, { recursive: true, force: true }));
  const store = new Store(openDatabase(join(directory, 'node.db')));
  ends.push(() => store.close());
  const settling = new Settling({
    store,
    worktrees: new GitWorktrees({ environment: repository.environment }),
    reservations: new Reservations(),
    repositories: new KeyedLocks(),
    faults: NO_FAULTS,
    log: pino({ level: 'silent' }),
    ...(leftGitMs === undefined ? {} : { leftGitMs }),
  });
  const begun = (target: string) =>
    insertIntent(store.sql, {
      act: 'create',
      source_workspace_id: WorkspaceId.parse('source'),
      source_root: repository.root,
      common_directory: join(repository.root, '.git'),
      target_root: target,
      workspace_id: null,
      branch: 'topic',
      head: repository.git(['rev-parse', 'HEAD']),
    });
  return { repository, store, settling, begun };
}

it('begins with one in the place of another without failing, and settles what it can', async () => {
  const { repository, store, settling, begun } = scene();
  for (const name of ['one', 'one/inside', 'two']) begun(repository.place(name));
  await settling.begin();
  expect(listIntents(store.sql).map((row) => row.target_root)).toEqual([repository.place('one/inside')]);
  await settling.close();
});

it('ends a git that an earlier start left at work when its time is over, with what it started', async () => {
  const { repository, store, settling, begun } = scene(50);
  const left = spawn('/bin/sh', ['-c', 'trap "" TERM; sleep 60 & echo $!; wait'], { detached: true });
  ends.push(() => left.kill('SIGKILL'));
  const [child] = (await once(left.stdout, 'data')) as [Buffer];
  const { id } = begun(repository.place('one'));
  const pid = left.pid ?? 0;
  noteProcess(store.sql, id, pid, processStart(pid));
  const other = begun(repository.place('two'));
  // Another program has that number now.
  noteProcess(store.sql, other.id, process.pid, 'long ago');
  const ended = once(left, 'exit');
  await settling.begin();
  expect((await ended)[1]).toBe('SIGKILL');
  expect(processStart(Number(child))).toBeNull();
  expect(listIntents(store.sql)).toEqual([]);
  await settling.close();
}, 15_000);
