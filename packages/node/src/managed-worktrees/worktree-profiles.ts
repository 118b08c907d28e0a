// Worktree profiles: where and how managed worktrees are made. Their files are looked after by `ProfileDirectory`; what clients know
// of them is told by events, and holds no path.
import {
  FailureError,
  WORKTREE_PROFILES_MAX,
  WorktreeProfile,
  WorktreeProfileSummary,
  type ProfileId,
} from '@roost/protocol';
import * as z from 'zod';
import { canonicalJson } from '../canonical-json.ts';
import { ProfileDirectory, type Named, type ProfileFault } from '../home/profile-directory.ts';
import type { Log } from '@roost/storage';
import type { Store } from '../store/store.ts';

export type NamedWorktreeProfile = Named<WorktreeProfile>;

export class WorktreeProfiles {
  readonly #store: Store;
  readonly #files: ProfileDirectory<WorktreeProfile>;
  /** Canonical summaries that events told last. */
  #told: string;

  constructor({ directory, store, log }: { directory: string; store: Store; log: Log }) {
    this.#store = store;
    this.#told = lastTold(store);
    this.#files = new ProfileDirectory({
      directory,
      schema: WorktreeProfile,
      profilesMax: WORKTREE_PROFILES_MAX,
      log,
      changed: () => this.#tell(),
    });
    this.refresh();
  }

  get all(): NamedWorktreeProfile[] {
    return [...this.#files.profiles.values()];
  }

  get faults(): readonly ProfileFault[] {
    return this.#files.faults;
  }

  /** As its file is now. @throws FailureError: unknown-worktree-profile. */
  find(profileId: ProfileId): NamedWorktreeProfile {
    this.refresh();
    const named = this.#files.profiles.get(profileId);
    if (named === undefined) throw new FailureError('unknown-worktree-profile', { profileId });
    return named;
  }

  /** Sorted by id, as bytes. */
  summaries(): WorktreeProfileSummary[] {
    return this.all.map(({ id, revision, profile }) => ({
      id,
      revision,
      description: profile.description ?? null,
      sourceWorkspace: profile.sourceWorkspace,
      retention: profile.retention,
      ports: profile.ports?.count ?? 0,
    }));
  }

  refresh(): void {
    this.#files.refresh();
  }

  close(): void {
    this.#files.close();
  }

  #tell(): void {
    const profiles = this.summaries();
    const text = canonicalJson(profiles);
    if (text === this.#told) return;
    this.#store.transact(({ append }) => append({ kind: 'worktree-profiles-changed', profiles }));
    this.#told = text;
  }
}

const Told = z.object({ profiles: z.array(WorktreeProfileSummary) });

/** What clients know that go on from an earlier start of the node. */
function lastTold({ sql }: Store): string {
  const row = sql.get(
    `SELECT body FROM events WHERE body LIKE '{"kind":"worktree-profiles-changed"%' ORDER BY sequence DESC LIMIT 1`,
  );
  if (row === undefined) return canonicalJson([]);
  const told = Told.safeParse(JSON.parse(z.object({ body: z.string() }).parse(row).body));
  return told.success ? canonicalJson(told.data.profiles) : '';
}
