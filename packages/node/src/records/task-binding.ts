// Which task a record works on: changed only by whoever knows its present revision. The revision outlives the task, so an old
// client can never win.
import { FailureError, type Params, type TaskId } from '@roost/protocol';
import { touched } from './record-policy.ts';
import type { RecordChange, RecordRow } from './record-table.ts';

type Wish = Pick<Params<'record.setTask'>, 'expectedRevision' | 'target'>;

/**
 * null: it is as wished already.
 * @param mint Makes an id that no record has.
 * @throws FailureError: session-record-conflict.
 */
export function planTask(
  record: RecordRow,
  { expectedRevision, target }: Wish,
  { now, mint }: { readonly now: number; readonly mint: () => TaskId },
): RecordChange | null {
  const { id: recordId, task_revision: revision, task_id: present } = record;
  if (revision !== expectedRevision || revision >= Number.MAX_SAFE_INTEGER) {
    throw new FailureError('session-record-conflict', { recordId, revision });
  }
  if (target.kind === 'existing' && target.taskId === present) return null;
  if (target.kind === 'clear' && present === null) return null;
  const change = touched(record, now, { task_revision: revision + 1, task_id: taskOf(target, mint) });
  return { ...change, task_changed_at: change.updated_at ?? now };
}

function taskOf(target: Wish['target'], mint: () => TaskId): TaskId | null {
  switch (target.kind) {
    case 'new':
      return mint();
    case 'existing':
      return target.taskId;
    case 'clear':
      return null;
  }
}
