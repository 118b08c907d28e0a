// A directory of profiles: named, revisioned values in JSON files of the state directory, written by people and other programs while
// the node runs. A file that cannot be used is told with what is wrong with it and harms nobody else. The directory is looked at
// before each use, which is cheap; watching it only makes news of a change come sooner.
import { lstatSync, mkdirSync, readdirSync, watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';
import { ProfileId, Revision } from '@roost/protocol';
import type * as z from 'zod';
import { canonicalDigest } from '../canonical-json.ts';
import type { Log } from '@roost/storage';
import { readSmallFile } from '../read-small-file.ts';

const PROFILE_BYTES_MAX = 64 * 1024;
/** Faults told at most. */
const FAULTS_MAX = 64;
/** Milliseconds after the first news of the watched directory: a file is rarely written in one step. */
const SETTLE_MS = 50;

export interface Named<Profile> {
  readonly id: ProfileId;
  readonly revision: Revision;
  readonly profile: Profile;
}

export interface ProfileFault {
  readonly file: string;
  readonly fault: string;
}

interface ProfileDirectoryOptions<Profile> {
  readonly directory: string;
  /** What a file holds. */
  readonly schema: z.ZodType<Profile>;
  /** What one is called in a fault. */
  readonly noun?: 'profile' | 'provider';
  /** Files beyond these are faults. */
  readonly profilesMax: number;
  /** What is wrong with one that is well-formed; null: nothing. */
  readonly judge?: (id: ProfileId, profile: Profile) => string | null;
  readonly log: Log;
  /** Called after a reading that found something different; it may throw. */
  readonly changed: () => void;
}

export class ProfileDirectory<Profile extends { readonly revision?: Revision | undefined }> {
  readonly #options: ProfileDirectoryOptions<Profile>;
  #signature = '';
  #profiles: ReadonlyMap<string, Named<Profile>> = new Map();
  #faults: readonly ProfileFault[] = [];
  #untold = false;
  #watcher: FSWatcher | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: ProfileDirectoryOptions<Profile>) {
    this.#options = options;
    try {
      mkdirSync(options.directory, { recursive: true, mode: 0o700 });
    } catch (error) {
      options.log.warn({ err: error }, 'a directory of profiles cannot be made');
    }
    this.#watch();
  }

  /** By id; as they were at the last `refresh`. */
  get profiles(): ReadonlyMap<string, Named<Profile>> {
    return this.#profiles;
  }

  get faults(): readonly ProfileFault[] {
    return this.#faults;
  }

  /** Reads the files anew when any of them changed, and tells what is different. */
  refresh(): void {
    const found = listFiles(this.#options.directory, this.#options.profilesMax);
    if (found.signature !== this.#signature) {
      this.#load(found.files);
      // Only now: a reading that fails is tried again.
      this.#signature = found.signature;
      this.#untold = true;
    }
    if (!this.#untold) return;
    this.#options.changed();
    this.#untold = false;
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#watcher?.close();
  }

  #load(files: readonly FoundFile[]): void {
    const { profilesMax, noun = 'profile' } = this.#options;
    const profiles = new Map<string, Named<Profile>>();
    const faults: ProfileFault[] = [];
    for (const [index, file] of files.entries()) {
      const read = index < profilesMax ? this.#loadOne(file) : `There are more than ${profilesMax} ${noun}s.`;
      if (typeof read !== 'string') profiles.set(read.id, read);
      else if (faults.length < FAULTS_MAX) faults.push({ file: printable(file.name), fault: read });
    }
    this.#profiles = profiles;
    this.#faults = faults;
  }

  /** The profile, or a sentence about why there is none. */
  #loadOne({ name, path }: FoundFile): Named<Profile> | string {
    const { noun = 'profile', schema, judge } = this.#options;
    const id = ProfileId.safeParse(name.slice(0, -'.json'.length));
    if (!id.success) return `The name of the file is no ${noun} id.`;
    const text = readSmallFile(path, PROFILE_BYTES_MAX);
    if ('fault' in text) return text.fault;
    let content: unknown;
    try {
      content = JSON.parse(text.content);
    } catch {
      return 'It is not JSON.';
    }
    const profile = schema.safeParse(content);
    if (!profile.success) return faultOf(profile.error, noun);
    const fault = judge?.(id.data, profile.data) ?? null;
    if (fault !== null) return fault;
    const revision =
      profile.data.revision ?? Revision.parse(`sha256:${canonicalDigest(content).slice(0, 24)}`);
    return { id: id.data, revision, profile: profile.data };
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
        this.#options.log.warn({ err: error }, 'a change of the profiles could not be told yet');
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
function listFiles(
  directory: string,
  profilesMax: number,
): { readonly signature: string; readonly files: readonly FoundFile[] } {
  const names = namesIn(directory)
    .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
    .sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
  const files = names.map((name) => ({ name, path: join(directory, name) }));
  const facts = files.slice(0, profilesMax).map(({ name, path }) => {
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

function faultOf({ issues }: z.ZodError, noun: string): string {
  const [first] = issues;
  const place = first === undefined || first.path.length === 0 ? `The ${noun}` : `"${first.path.join('.')}"`;
  return `${place} is not valid: ${first?.message ?? 'it has the wrong shape'}.`.slice(0, 512);
}

function printable(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}]/gu, '?');
}
