// Spawn profiles: what launches begin from. Their files are looked after by `ProfileDirectory`; what clients know of them is told by
// events.
import { SPAWN_PROFILES_MAX, SpawnProfile, SpawnProfileSummary, type ProfileId } from '@roost/protocol';
import * as z from 'zod';
import { canonicalJson } from '../canonical-json.ts';
import type { Caller } from '../control/handlers.ts';
import { visible } from '../control/visible.ts';
import { ProfileDirectory, type Named, type ProfileFault } from '../home/profile-directory.ts';
import type { Log } from '@roost/storage';
import type { Store } from '../store/store.ts';

export type NamedProfile = Named<SpawnProfile>;

interface SpawnProfilesOptions {
  readonly directory: string;
  readonly store: Store;
  readonly log: Log;
}

export class SpawnProfiles {
  readonly #store: Store;
  readonly #files: ProfileDirectory<SpawnProfile>;
  /** Canonical summaries that events told last. */
  #told: string;

  constructor({ directory, store, log }: SpawnProfilesOptions) {
    this.#store = store;
    this.#told = lastTold(store);
    this.#files = new ProfileDirectory({
      directory,
      schema: SpawnProfile,
      profilesMax: SPAWN_PROFILES_MAX,
      log,
      changed: () => this.#tell(),
    });
    this.refresh();
  }

  /** By id; as they were at the last `refresh`. */
  get profiles(): ReadonlyMap<string, NamedProfile> {
    return this.#files.profiles;
  }

  get faults(): readonly ProfileFault[] {
    return this.#files.faults;
  }

  /** As it was at the last `refresh`. @throws FailureError: unknown-spawn-profile, unsupported-capability. */
  checkVisible(caller: Pick<Caller, 'projection'>, profileId: ProfileId): void {
    const named = this.profiles.get(profileId) ?? null;
    const found = named === null ? null : { value: named, view: summaryOf(named) };
    visible(caller, SpawnProfileSummary, found, { code: 'unknown-spawn-profile', details: { profileId } });
  }

  /** Sorted by id, as bytes. */
  summaries(): SpawnProfileSummary[] {
    return [...this.profiles.values()].map(summaryOf);
  }

  /** Reads the files anew when any of them changed, and tells what is different. */
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
    this.#store.transact(({ append }) => append({ kind: 'spawn-profiles-changed', profiles }));
    this.#told = text;
  }
}

function summaryOf({ id, revision, profile }: NamedProfile): SpawnProfileSummary {
  const { provider, transport, description = null } = profile;
  // No environment profile is known here, so none that a profile names has a receipt.
  return { id, revision, description, provider, transport, environmentProfile: null };
}

const Told = z.object({ profiles: z.array(SpawnProfileSummary) });

/** What clients know that go on from an earlier start of the node. */
function lastTold({ sql }: Store): string {
  const row = sql.get(
    `SELECT body FROM events WHERE body LIKE '{"kind":"spawn-profiles-changed"%' ORDER BY sequence DESC LIMIT 1`,
  );
  if (row === undefined) return canonicalJson([]);
  const told = Told.safeParse(JSON.parse(z.object({ body: z.string() }).parse(row).body));
  return told.success ? canonicalJson(told.data.profiles) : '';
}
