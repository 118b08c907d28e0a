// How long the hub waits for the answer of an operation: as long as the operation itself may take, and a little longer.
import type { OperationName } from '@roost/protocol';

/** Milliseconds: of an operation that says nothing of its time, and beyond the time of one that does. */
const PLAIN_MS = 30_000;
const MARGIN_MS = 5_000;

/** Those that run commands or git for as long as it takes. */
const LONG: Partial<Record<OperationName, number>> = {
  'worktree.spawn': 720_000,
  'worktree.allocate': 720_000,
  'worktree.cleanup': 720_000,
  'worktree.resolve': 720_000,
  'workspace.createStandalone': 240_000,
  'session.stop': 90_000,
  'record.resume': 60_000,
  'session.resume': 60_000,
};

export function requestTimeoutMs(operation: OperationName, params: unknown): number {
  const own =
    numberIn(params, 'waitMs') ??
    numberIn(params, 'deadlineMs') ??
    numberIn(fieldOf(params, 'spec'), 'deadlineMs');
  return Math.max(LONG[operation] ?? PLAIN_MS, (own ?? 0) + MARGIN_MS);
}

function numberIn(value: unknown, field: string): number | undefined {
  const found = fieldOf(value, field);
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined;
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null && field in value
    ? (value as Readonly<Record<string, unknown>>)[field]
    : undefined;
}
