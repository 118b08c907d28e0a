// Spawn profiles: named, revisioned defaults in files of the state directory, written by people and other programs while the node
// runs. A file that cannot be used is told with what is wrong with it and harms nobody else. The directory is looked at before each
// use, which is cheap; watching it only makes news of a change come sooner.
import { mkdirSync, readdirSync, lstatSync, watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';
import { ProfileId, Revision, SPAWN_PROFILES_MAX, SpawnProfile, SpawnProfileSummary } from '@roost/protocol';
import * as z from 'zod';
import type { Caller } from '../control/handlers.ts';
import { visible } from '../control/visible.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store/store.ts';
import { canonicalDigest, canonicalJson } from './canonical-json.ts';
import { readSmallFile } from './read-small-file.ts';

const PROFILE_BYTES_MAX = 64 * 1024;
/** Faults told at most. */
const FAULTS_MAX = 64;
/** Milliseconds after the first news of the watched directory: a file is rarely written in one step. */
const SETTLE_MS = 50;

export interface NamedProfile {
  readonly id: ProfileId;
  readonly revision: Revision;
  readonly profile: SpawnProfile;
}

interface ProfileFault {
  readonly file: string;
  readonly fault: string;
}

interface Loaded {
  readonly profiles: ReadonlyMap<string, NamedProfile>;
  readonly faults: readonly ProfileFault[];
}

interface SpawnProfilesOptions {
  readonly directory: string;
  readonly store: Store;
  readonly log: Log;
}

export class SpawnProfiles {
  readonly #options: SpawnProfilesOptions;
  #signature = '';
  #loaded: Loaded = { profiles: new Map(), faults: [] };
  /** Canonical summaries that events told last. */
  #told: string;
  #watcher: FSWatcher | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: SpawnProfilesOptions) {
    this.#options = options;
    this.#told = lastTold(options.store);
    try {
      mkdirSync(options.directory, { recursive: true, mode: 0o700 });
    } catch (error) {
      options.log.warn({ err: error }, 'the directory of spawn profiles cannot be made');
    }
    this.#watch();
    this.refresh();
  }

  /** By id; as they were at the last `refresh`. */
  get profiles(): ReadonlyMap<string, NamedProfile> {
    return this.#loaded.profiles;
  }

  get faults(): readonly ProfileFault[] {
    return this.#loaded.faults;
  }

  /** As it was at the last `refresh`. @throws FailureError: unknown-spawn-profile, unsupported-capability. */
  checkVisible(caller: Pick<Caller, 'projection'>, profileId: ProfileId): void {
    const named = this.#loaded.profiles.get(profileId) ?? null;
    const found = named === null ? null : { value: named, view: summaryOf(named) };
    visible(caller, SpawnProfileSummary, found, { code: 'unknown-spawn-profile', details: { profileId } });
  }

  /** Sorted by id, as bytes. */
  summaries(): SpawnProfileSummary[] {
    return [...this.#loaded.profiles.values()].map(summaryOf);
  }

  /** Reads the files anew when any of them changed, and tells what is different. */
  refresh(): void {
    const found = listFiles(this.#options.directory);
    if (found.signature === this.#signature) return;
    this.#loaded = load(found.files);
    // Only now: a reading that fails is tried again.
    this.#signature = found.signature;
    this.#tell();
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#watcher?.close();
  }

  #tell(): void {
    const profiles = this.summaries();
    const text = canonicalJson(profiles);
    if (text === this.#told) return;
    this.#options.store.transact(({ append }) => append({ kind: 'spawn-profiles-changed', profiles }));
    this.#told = text;
  }

  #watch(): void {
    try {
      this.#watcher = watch(this.#options.directory, { persistent: false }, () => this.#refreshSoon());
      this.#watcher.on('error', () => this.#watcher?.close());
    } catch {
      // The look before each use is enough.
    }
  }

  #refreshSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      try {
        this.refresh();
      } catch (error) {
        this.#options.log.warn({ err: error }, 'a change of the spawn profiles could not be told yet');
      }
    }, SETTLE_MS);
    this.#timer.unref();
  }
}

interface FoundFile {
  readonly name: string;
  readonly path: string;
}

/** The signature changes whenever a file comes, goes or is written. */
function listFiles(directory: string): { readonly signature: string; readonly files: readonly FoundFile[] } {
  const names = namesIn(directory)
    .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
    .sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
  const files = names.map((name) => ({ name, path: join(directory, name) }));
  const facts = files.slice(0, SPAWN_PROFILES_MAX).map(({ name, path }) => {
    try {
      const { ino, size, mtimeNs, ctimeNs } = lstatSync(path, { bigint: true });
      return [name, ino, size, mtimeNs, ctimeNs].map(String);
    } catch {
      return [name];
    }
  });
  return { signature: JSON.stringify([names, facts]), files };
}

function namesIn(directory: string): string[] {
  try {
    return lstatSync(directory).isDirectory() ? readdirSync(directory) : [];
  } catch {
    return [];
  }
}

function load(files: readonly FoundFile[]): Loaded {
  const profiles = new Map<string, NamedProfile>();
  const faults: ProfileFault[] = [];
  for (const [index, file] of files.entries()) {
    const read =
      index < SPAWN_PROFILES_MAX ? loadOne(file) : `There are more than ${SPAWN_PROFILES_MAX} profiles.`;
    if (typeof read !== 'string') profiles.set(read.id, read);
    else if (faults.length < FAULTS_MAX) faults.push({ file: printable(file.name), fault: read });
  }
  return { profiles, faults };
}

/** The profile, or a sentence about why there is none. */
function loadOne({ name, path }: FoundFile): NamedProfile | string {
  const id = ProfileId.safeParse(name.slice(0, -'.json'.length));
  if (!id.success) return 'The name of the file is no profile id.';
  const text = readSmallFile(path, PROFILE_BYTES_MAX);
  if ('fault' in text) return text.fault;
  let content: unknown;
  try {
    content = JSON.parse(text.content);
  } catch {
    return 'It is not JSON.';
  }
  const profile = SpawnProfile.safeParse(content);
  if (!profile.success) return faultOf(profile.error);
  const revision = profile.data.revision ?? Revision.parse(`sha256:${canonicalDigest(content).slice(0, 24)}`);
  return { id: id.data, revision, profile: profile.data };
}

function faultOf({ issues }: z.ZodError): string {
  const [first] = issues;
  const place = first === undefined || first.path.length === 0 ? 'The profile' : `"${first.path.join('.')}"`;
  return `${place} is not valid: ${first?.message ?? 'it has the wrong shape'}.`.slice(0, 512);
}

function printable(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}]/gu, '?');
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
