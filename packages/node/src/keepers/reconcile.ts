// What to do when rows and keepers are compared: at start, after a reconnect, after a keeper's death. Pure. Acts on evidence
// only: a keeper that cannot be reached, but is not known to be dead, changes nothing.
import type { ChildState } from '@roost/keeper/wire';
import { LIVE_STATUSES, type SessionStatus } from '@roost/protocol';

interface RowFacts {
  readonly id: string;
  readonly status: SessionStatus;
}

export type KeeperEvidence =
  | { readonly kind: 'answered'; readonly children: ReadonlyMap<string, ChildState> }
  /** `lastKnown`: children as last heard of; an exit that was told still counts. */
  | { readonly kind: 'dead'; readonly lastKnown: ReadonlyMap<string, ChildState> }
  | { readonly kind: 'unreachable' };

export type ReconcileAction =
  /** It runs: the row says so from now on. */
  | { readonly kind: 'confirm'; readonly sessionId: string; readonly child: ChildState }
  /** It has ended and the keeper still has its output: store that, then release it. */
  | { readonly kind: 'collect'; readonly sessionId: string; readonly child: ChildState }
  /** It has ended, but its last output died with the keeper. */
  | { readonly kind: 'record-exit'; readonly sessionId: string; readonly child: ChildState }
  | { readonly kind: 'never-started'; readonly sessionId: string }
  | { readonly kind: 'lose'; readonly sessionId: string }
  /** Everything about it is stored: the keeper may forget it. */
  | { readonly kind: 'release'; readonly sessionId: string }
  /** The database does not know it: rebuild its row from the note. */
  | { readonly kind: 'adopt'; readonly child: ChildState };

export interface Reconciliation {
  /** The rows of this keeper. */
  readonly rows: readonly RowFacts[];
  readonly evidence: KeeperEvidence;
  /** Sessions whose spawn call is under way: its answer decides. */
  readonly spawning: ReadonlySet<string>;
  /** Sessions that were removed here. */
  readonly removed: ReadonlySet<string>;
}

export function planReconcile({ rows, evidence, spawning, removed }: Reconciliation): ReconcileAction[] {
  switch (evidence.kind) {
    case 'unreachable':
      return [];
    case 'dead':
      return rows.flatMap((row) => afterDeath(row, evidence.lastKnown.get(row.id)));
    case 'answered': {
      const known = new Set(rows.map((row) => row.id));
      const ofRows = rows
        .filter((row) => !spawning.has(row.id))
        .flatMap((row) => afterAnswer(row, evidence.children.get(row.id)));
      const ofChildren = [...evidence.children.values()]
        .filter((child) => !known.has(child.sessionId) && !spawning.has(child.sessionId))
        .map((child): ReconcileAction => {
          const forgotten = removed.has(child.sessionId) && child.exit !== null;
          return forgotten ? { kind: 'release', sessionId: child.sessionId } : { kind: 'adopt', child };
        });
      return [...ofRows, ...ofChildren];
    }
  }
}

function afterDeath(row: RowFacts, child: ChildState | undefined): ReconcileAction[] {
  if (!LIVE_STATUSES.includes(row.status)) return [];
  if (child !== undefined && child.exit !== null) return [{ kind: 'record-exit', sessionId: row.id, child }];
  return [{ kind: 'lose', sessionId: row.id }];
}

function afterAnswer(row: RowFacts, child: ChildState | undefined): ReconcileAction[] {
  const live = LIVE_STATUSES.includes(row.status);
  if (child === undefined) {
    if (!live) return [];
    return [{ kind: row.status === 'starting' ? 'never-started' : 'lose', sessionId: row.id }];
  }
  if (child.exit !== null) {
    // `failed` and `lost` are what we knew without it.
    const stored = row.status === 'exited';
    return stored
      ? [{ kind: 'release', sessionId: row.id }]
      : [{ kind: 'collect', sessionId: row.id, child }];
  }
  return [{ kind: 'confirm', sessionId: row.id, child }];
}
