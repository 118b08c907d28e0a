// Which providers this machine can run. Looking is cheap, but not free: it is done at the start and when somebody asks.
import type { ProviderStatus } from '@roost/protocol';
import {
  findExecutable,
  planLaunch,
  PROVIDERS,
  runtimeCapabilities,
  type ProviderManifest,
} from '@roost/providers';

export class ProviderCatalog {
  readonly #environment: Readonly<Record<string, string | undefined>>;
  #statuses: readonly ProviderStatus[] = [];

  constructor(environment: Readonly<Record<string, string | undefined>>) {
    this.#environment = environment;
    this.look();
  }

  /** As they were at the last look. */
  get statuses(): readonly ProviderStatus[] {
    return this.#statuses;
  }

  get ids(): string[] {
    return this.#statuses.map(({ id }) => id);
  }

  look(): readonly ProviderStatus[] {
    this.#statuses = PROVIDERS.map((provider) => ({
      id: provider.id,
      displayName: provider.displayName,
      installed: this.#isInstalled(provider),
      capabilities: {
        pty: runtimeCapabilities(provider, 'pty'),
        pipe: runtimeCapabilities(provider, 'pipe'),
      },
    }));
    return this.#statuses;
  }

  #isInstalled(provider: ProviderManifest): boolean {
    const outcome = planLaunch(provider, {
      environment: this.#environment,
      which: (name, path) => findExecutable(name, path, '/'),
      arguments: [],
      transport: 'pty',
      session: { kind: 'none' },
      prompt: null,
    });
    return !('failure' in outcome);
  }
}
