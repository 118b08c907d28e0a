// What was begun with a worktree: one row from before git runs until it is known how that ended.
import * as z from 'zod';
import { WorkspaceId, WorktreeRecovery } from '@roost/protocol';
import { randomHexId } from '../node-identity.ts';
import type { Sql } from '@roost/storage';

const Row = z.object({
  id: z.string(),
  act: z.enum(['create', 'remove']),
  source_workspace_id: WorkspaceId,
  source_root: z.string(),
  common_directory: z.string(),
  target_root: z.string(),
  workspace_id: WorkspaceId.nullable(),
  branch: z.string().nullable(),
  head: z.string().nullable(),
  pid: z.int().nullable(),
  process_start: z.string().nullable(),
  problem: WorktreeRecovery.shape.why.nullable(),
  created_at: z.int(),
});
export type IntentRow = z.infer<typeof Row>;

type Begun = Omit<IntentRow, 'id' | 'pid' | 'process_start' | 'problem' | 'created_at'>;

export function insertIntent(sql: Sql, begun: Begun): IntentRow {
  const row: IntentRow = {
    id: randomHexId(),
    ...begun,
    pid: null,
    process_start: null,
    problem: null,
    created_at: Date.now(),
  };
  const columns = Object.keys(row);
  sql.run(
    `INSERT INTO worktree_intents (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    ...Object.values(row),
  );
  return row;
}

export function listIntents(sql: Sql): IntentRow[] {
  return sql.all('SELECT * FROM worktree_intents ORDER BY created_at, rowid').map((row) => Row.parse(row));
}

export function findIntentAt(sql: Sql, targetRoot: string): IntentRow | null {
  const row = sql.get('SELECT * FROM worktree_intents WHERE target_root = ?', targetRoot);
  return row === undefined ? null : Row.parse(row);
}

export function noteProcess(sql: Sql, id: string, pid: number, processStart: string | null): void {
  sql.run('UPDATE worktree_intents SET pid = ?, process_start = ? WHERE id = ?', pid, processStart, id);
}

export function noteProblem(sql: Sql, id: string, problem: IntentRow['problem']): void {
  sql.run('UPDATE worktree_intents SET problem = ? WHERE id = ?', problem, id);
}

export function deleteIntent(sql: Sql, id: string): void {
  sql.run('DELETE FROM worktree_intents WHERE id = ?', id);
}

export function recoveryView(row: IntentRow): WorktreeRecovery {
  return {
    path: row.target_root,
    act: row.act,
    branch: row.branch,
    why: row.problem ?? 'running',
    since: new Date(row.created_at).toISOString(),
  };
}
