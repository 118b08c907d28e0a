import {
  FOREIGN_TERMINAL,
  NESTED_AGENT_MARKERS,
  NETWORK_ENVIRONMENT,
  RAW_TRANSPORT,
  USUAL_PLACES,
  type ProviderManifest,
  type ProviderOptions,
  type ProviderVersion,
} from '../manifest.ts';

/** What a person says of a program of their own. Its own sessions are not among it: those take code that reads them. */
export interface ProviderDefinition {
  readonly displayName: string;
  readonly executables: readonly string[];
  readonly places: readonly string[];
  readonly arguments: readonly string[];
  readonly version: ProviderVersion | null;
  readonly environment: { readonly inherit: readonly string[]; readonly scrub: readonly string[] };
  /** How it takes its first prompt; null: it takes none. */
  readonly prompt: readonly string[] | null;
  readonly options: ProviderOptions;
  readonly install: string | null;
  readonly login: string | null;
}

/** A provider made of data alone: a terminal that may take prompts and session options. */
export function genericProvider(id: string, definition: ProviderDefinition): ProviderManifest {
  const { environment, prompt, login } = definition;
  return {
    id,
    displayName: definition.displayName,
    executable: {
      kind: 'search',
      names: definition.executables,
      places: [...definition.places, ...USUAL_PLACES],
    },
    version: definition.version,
    leadingArguments: definition.arguments,
    inheritEnvironment: [...NETWORK_ENVIRONMENT, ...environment.inherit],
    scrubEnvironment: [...NESTED_AGENT_MARKERS, ...FOREIGN_TERMINAL, ...environment.scrub],
    transports: { pty: { ...RAW_TRANSPORT, prompt }, pipe: RAW_TRANSPORT },
    options: definition.options,
    commandLine: { values: {}, choosesSession: [] },
    install: definition.install,
    login: login === null ? null : { command: login, environment: [], evidence: null },
  };
}
