import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, expect, it } from 'vitest';
import { WorkspaceId } from '@roost/protocol';
import { KeyedLocks } from '../control/keyed-locks.ts';
import { NO_FAULTS } from '../fault-points.ts';
import { openDatabase } from '../store/open-database.ts';
import { Store } from '../store/store.ts';
import { GitWorktrees } from './git-worktrees.ts';
import { insertIntent, listIntents } from './intent-table.ts';
import { Reservations } from './reservations.ts';
import { Settling } from './settling.ts';
import { TestRepository } from './repository-for-test.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0).reverse()) end();
});

it('begins with one in the place of another without failing, and settles what it can', async () => {
  const repository = new TestRepository();
  ends.push(() => repository.remove());
  const directory = mkdtempSync(join(tmpdir(), 'roost-settling-'));
  ends.push(() => rmSync(directory, { recursive: true, force: true }));
  const store = new Store(openDatabase(join(directory, 'node.db')));
  ends.push(() => store.close());
  for (const target of [repository.place('one'), repository.place('one/inside'), repository.place('two')]) {
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
  }
  const settling = new Settling({
    store,
    worktrees: new GitWorktrees({ environment: repository.environment }),
    reservations: new Reservations(),
    repositories: new KeyedLocks(),
    faults: NO_FAULTS,
    log: pino({ level: 'silent' }),
  });
  await settling.begin();
  expect(listIntents(store.sql).map((row) => row.target_root)).toEqual([repository.place('one/inside')]);
  await settling.close();
});
