// One environment profile a workspace: agents that share a directory share what an environment puts there.
import { FailureError, LIVE_STATUSES, type EnvironmentReceipt, type WorkspaceId } from '@roost/protocol';
import type { Sql } from '@roost/storage';

const LIVE = LIVE_STATUSES.map((status) => `'${status}'`).join(', ');

/** @throws FailureError: workspace-busy when a live session of the workspace runs with another profile, or with none. */
export function checkEnvironment(
  sql: Sql,
  workspaceId: WorkspaceId,
  environmentProfile: EnvironmentReceipt | null,
): void {
  const other = sql.get(
    `SELECT 1 FROM sessions WHERE workspace_id = ? AND status IN (${LIVE}) AND environment_profile IS NOT ? LIMIT 1`,
    workspaceId,
    storedEnvironment(environmentProfile),
  );
  if (other !== undefined) throw new FailureError('workspace-busy', { workspaceId });
}

/** As the column holds it: equal profiles are equal texts. */
export function storedEnvironment(receipt: EnvironmentReceipt | null): string | null {
  if (receipt === null) return null;
  return JSON.stringify({ profileId: receipt.profileId, revision: receipt.revision });
}
