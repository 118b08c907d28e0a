// How worktrees of a workspace are made and removed: what the configuration says, else by the node when a managed profile names the
// workspace, else by hand. Asked before anything else is looked at.
import { FailureError, type WorktreeServiceMode } from '@roost/protocol';
import type { Config } from '../home/config.ts';

/** What the managed worktrees hold for themselves. */
export interface ManagedClaims {
  /** Whether a managed profile makes worktrees of that workspace. */
  isManagedSource(workspaceId: string): boolean;
  /** Refuses a workspace or directory that belongs to a managed worktree. @throws FailureError */
  requireUnclaimed(what: {
    readonly workspaceId?: string | undefined;
    readonly root?: string | undefined;
  }): void;
}

export const NO_CLAIMS: ManagedClaims = {
  isManagedSource: () => false,
  requireUnclaimed: () => undefined,
};

export class ServiceModes {
  readonly #configured: Readonly<Record<string, WorktreeServiceMode | undefined>>;
  readonly #claims: ManagedClaims;

  constructor(configured: Config['worktrees'], claims: ManagedClaims) {
    this.#configured = configured;
    this.#claims = claims;
  }

  of(workspaceId: string): WorktreeServiceMode {
    return (
      this.#configured[workspaceId] ?? (this.#claims.isManagedSource(workspaceId) ? 'managed' : 'manual')
    );
  }

  /**
   * A profile says how worktrees are made. How those end that are none of its own (older ones, one that was kept) only the
   * configuration says; its own are claimed.
   * @throws FailureError: worktree-service-mode.
   */
  requireManual(workspaceId: string, act: 'create' | 'remove' = 'create'): void {
    const mode = act === 'create' ? this.of(workspaceId) : (this.#configured[workspaceId] ?? 'manual');
    if (mode !== 'manual') throw new FailureError('worktree-service-mode', { workspaceId, mode });
  }
}
