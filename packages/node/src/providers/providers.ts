// The providers of this machine: those that Roost knows and those that people define, each with what was found of it. Whoever launches
// one takes it from here, and gets only what holds for the version that is there. Nothing is started before somebody asks.
import type { ProviderDiscovery, ProviderReport, ProviderState, ProviderStatus } from '@roost/protocol';
import {
  asRawTerminal,
  childEnvironment,
  findProvider,
  optionValues,
  placeOfVersion,
  PROVIDERS,
  runtimeCapabilities,
  type ProviderManifest,
  type ProviderTransport,
  type ProviderVersion,
  type VersionPlace,
} from '@roost/providers';
import type { ProfileFault } from '../home/profile-directory.ts';
import type { Log } from '@roost/storage';
import { findProgram, type FoundProgram } from './find-program.ts';
import { loginState } from './login-state.ts';
import { UserProviders } from './user-providers.ts';
import { VersionProbe, type Probe, type ProbeOutcome } from './version-probe.ts';

/** What a launch may know of providers. */
export interface ProviderSource {
  /** With what is known by now of its version; null when there is none of that name. */
  find(id: string): ProviderManifest | null;
  /** Its version was asked, and is one that was seen at work. */
  isKnownVersion(id: string): boolean;
  /** Resolves when that is all that can be known. Never throws. */
  settle(id: string): Promise<void>;
}

export interface ProvidersOptions {
  /** The node's own environment. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Of the files in which people define providers. */
  readonly directory: string;
  readonly log: Log;
  /** Milliseconds in which a program tells its version. */
  readonly probeMs?: number;
}

/** What is known of the program of one provider. */
interface Knowledge {
  readonly found: FoundProgram;
  /** null: it was not asked. */
  readonly probed: ProbeOutcome | null;
}

export class Providers implements ProviderSource {
  readonly #environment: ProvidersOptions['environment'];
  readonly #log: Log;
  readonly #own: UserProviders;
  readonly #probe: VersionProbe;
  readonly #stop = new AbortController();
  #statuses: readonly ProviderStatus[];

  constructor({ environment, directory, log, probeMs }: ProvidersOptions) {
    this.#environment = environment;
    this.#log = log;
    this.#own = new UserProviders(directory, log);
    this.#probe = new VersionProbe(probeMs);
    this.#statuses = this.#look();
  }

  /** As they were at the last look: at the start, and whenever somebody asked for them or launched one. */
  get statuses(): readonly ProviderStatus[] {
    return this.#statuses;
  }

  find(id: string): ProviderManifest | null {
    const provider = this.#named(id);
    return provider === null ? null : reliedOn(provider, this.#known(provider));
  }

  isKnownVersion(id: string): boolean {
    const provider = this.#named(id);
    return provider !== null && placeOf(provider.version, this.#known(provider)) === 'inside';
  }

  async settle(id: string): Promise<void> {
    const provider = this.#named(id);
    if (provider === null) return;
    const before = this.#known(provider);
    const known = await this.#know(provider);
    if (before.probed !== known.probed) this.#statuses = this.#look();
  }

  /** `ask`: whether programs may be started for what is not known. */
  async list(ask: boolean): Promise<{ providers: ProviderReport[]; faults: ProfileFault[] }> {
    const providers = await Promise.all(
      this.#all().map(async (provider) => {
        const known = ask ? await this.#know(provider) : this.#known(provider);
        return this.#report(provider, known, ask);
      }),
    );
    this.#statuses = providers.map(({ discovery: _, ...status }) => status);
    return { providers, faults: [...this.#own.faults] };
  }

  /** Asks anew whatever is known; null when there is none of that name. */
  async check(id: string): Promise<ProviderReport | null> {
    const provider = this.#named(id);
    if (provider === null) return null;
    const report = await this.#report(provider, await this.#know(provider, true), true);
    this.#statuses = this.#look();
    return report;
  }

  /** What a person is told to do about one. */
  commandsOf(id: string): Pick<ProviderManifest, 'install' | 'login'> | null {
    return this.#named(id);
  }

  close(): void {
    this.#stop.abort();
    this.#probe.close();
    this.#own.close();
  }

  #look(): ProviderStatus[] {
    return this.#all().map((provider) => statusOf(provider, this.#known(provider)));
  }

  #all(): ProviderManifest[] {
    return [...PROVIDERS, ...this.#own.read().values()];
  }

  #named(id: string): ProviderManifest | null {
    return findProvider(id) ?? this.#own.read().get(id) ?? null;
  }

  #known(provider: ProviderManifest): Knowledge {
    const { found, probe } = this.#place(provider);
    return { found, probed: probe === null ? null : this.#probe.known(probe) };
  }

  async #know(provider: ProviderManifest, afresh = false): Promise<Knowledge> {
    const { found, probe } = this.#place(provider);
    if (probe === null) return { found, probed: null };
    const probed = await this.#probe.ask(probe, afresh);
    if (probed.fault !== null) {
      this.#log.info({ provider: provider.id, path: probe.path, fault: probed.fault }, 'no version was told');
    }
    return { found, probed };
  }

  /** Where its program is, and how that would be asked; null when there is nothing to ask. */
  #place(provider: ProviderManifest): { readonly found: FoundProgram; readonly probe: Probe | null } {
    const environment = this.#environmentOf(provider);
    const found = findProgram(provider, environment);
    const { version } = provider;
    if (found.kind !== 'found' || version === null) return { found, probe: null };
    return { found, probe: { provider: { id: provider.id, version }, path: found.path, environment } };
  }

  #environmentOf({
    inheritEnvironment: inherit,
    scrubEnvironment: scrub,
  }: ProviderManifest): Record<string, string> {
    return childEnvironment({ parent: this.#environment, inherit, scrub, set: {} });
  }

  async #report(provider: ProviderManifest, known: Knowledge, mayStart: boolean): Promise<ProviderReport> {
    const { found, probed } = known;
    const state = stateOf(provider.version, known);
    const runs = found.kind === 'found' && state !== 'broken';
    const login = await loginState(provider, {
      environment: this.#environmentOf(provider),
      path: mayStart && runs ? found.path : null,
      signal: this.#stop.signal,
    });
    const path = found.kind === 'absent' ? null : found.path;
    const discovery: ProviderDiscovery = {
      state,
      origin: findProvider(provider.id) === null ? 'user' : 'built-in',
      path,
      program: probed === null || probed.program === path ? null : probed.program,
      version: probed?.version ?? null,
      versionFrom: probed?.versionFrom ?? null,
      fault: found.kind === 'broken' ? found.fault : (probed?.fault ?? null),
      known: provider.version?.known ?? null,
      transports: {
        pty: transportFacts(provider, known, 'pty'),
        pipe: transportFacts(provider, known, 'pipe'),
      },
      options: Object.fromEntries(
        Object.entries(provider.options).map(([name, option]) => {
          const values = optionValues(option);
          return [name, values === null ? null : [...values]];
        }),
      ),
      login,
    };
    return { ...statusOf(provider, known), discovery };
  }
}

/** The same without its promises, where nobody has seen the version that is there at work. */
function reliedOn(provider: ProviderManifest, known: Knowledge): ProviderManifest {
  const place = placeOf(provider.version, known);
  return place === 'inside' || place === 'unasked'
    ? provider
    : asRawTerminal(provider, { older: place === 'older' });
}

/** `unasked`: until it is, what is said of it is taken to hold. `untold`: it was asked, and said nothing that could be understood. */
function placeOf(
  version: ProviderVersion | null,
  { found, probed }: Knowledge,
): VersionPlace | 'unasked' | 'untold' | 'unknown' {
  if (version === null) return 'inside';
  if (version.known === null) return 'unknown';
  if (found.kind !== 'found' || probed === null) return 'unasked';
  return probed.version === null ? 'untold' : placeOfVersion(probed.version, version.known);
}

function stateOf(version: ProviderVersion | null, known: Knowledge): ProviderState {
  const { found, probed } = known;
  if (found.kind === 'absent') return 'not-found';
  if (found.kind === 'broken' || probed?.fault === 'target-gone' || probed?.fault === 'endless')
    return 'broken';
  if (version !== null && probed === null) return 'unknown';
  if (version !== null && probed !== null && probed.fault !== null) return 'probe-failed';
  return placeOf(version, known) === 'inside' ? 'installed' : 'unverified-version';
}

function statusOf(provider: ProviderManifest, known: Knowledge): ProviderStatus {
  const { id, displayName, version } = provider;
  const state = stateOf(version, known);
  const relied = reliedOn(provider, known);
  return {
    id,
    displayName,
    installed: state !== 'not-found' && state !== 'broken',
    capabilities: {
      pty: runtimeCapabilities(relied, 'pty'),
      pipe: runtimeCapabilities(relied, 'pipe'),
    },
  };
}

function transportFacts(
  provider: ProviderManifest,
  known: Knowledge,
  transport: 'pty' | 'pipe',
): ProviderDiscovery['transports']['pty'] {
  const unverified = provider.unverifiedTransports?.[transport];
  const { identity, resume, prompt }: ProviderTransport = unverified ?? provider.transports[transport];
  return {
    identity: identity?.kind ?? null,
    resume: resume !== null,
    prompt: prompt !== null,
    verified: unverified === undefined && reliedOn(provider, known) === provider,
  };
}
