// Providers that people define, in files `providers/ID.json` of the state directory. They add to those of Roost and replace none.
import { ProviderId, USER_PROVIDERS_MAX, type Revision } from '@roost/protocol';
import {
  findProvider,
  genericProvider,
  type ProviderDefinition,
  type ProviderManifest,
} from '@roost/providers';
import { ProfileDirectory, type ProfileFault } from '../home/profile-directory.ts';
import type { Log } from '@roost/storage';
import { ProviderFile } from './provider-file.ts';

/** Names that mean something else where a provider is named. */
const RESERVED: ReadonlySet<string> = new Set(['command', 'generic']);

/** It has no revision of its own. */
type Defined = ProviderDefinition & { readonly revision?: Revision | undefined };

export class UserProviders {
  readonly #files: ProfileDirectory<Defined>;
  #providers: ReadonlyMap<string, ProviderManifest> = new Map();

  constructor(directory: string, log: Log) {
    this.#files = new ProfileDirectory<Defined>({
      directory,
      schema: ProviderFile,
      noun: 'provider',
      profilesMax: USER_PROVIDERS_MAX,
      judge: (id) => judgeId(id),
      log,
      changed: () => {
        const read = [...this.#files.profiles.values()];
        this.#providers = new Map(read.map(({ id, profile }) => [id, genericProvider(id, profile)]));
      },
    });
    this.#files.refresh();
  }

  /** By id, as the files are now. */
  read(): ReadonlyMap<string, ProviderManifest> {
    this.#files.refresh();
    return this.#providers;
  }

  /** Files that define none, as they were at the last reading. */
  get faults(): readonly ProfileFault[] {
    return this.#files.faults;
  }

  close(): void {
    this.#files.close();
  }
}

function judgeId(id: string): string | null {
  if (!ProviderId.safeParse(id).success) return 'The name of the file is no provider id.';
  if (findProvider(id) !== null || RESERVED.has(id)) return 'A provider of that name is there already.';
  return null;
}
