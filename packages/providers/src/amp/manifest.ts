import {
  FOREIGN_TERMINAL,
  NESTED_AGENT_MARKERS,
  NETWORK_ENVIRONMENT,
  RAW_TRANSPORT,
  USUAL_PLACES,
  type ProviderManifest,
} from '../manifest.ts';

/** Amp. Read about and never run: its version is unknown territory, and it is a terminal until somebody has seen it do more. */
export const amp: ProviderManifest = {
  id: 'amp',
  displayName: 'Amp',
  executable: { kind: 'search', names: ['amp'], places: USUAL_PLACES },
  version: { arguments: ['--version'], scratchHome: true, known: null },
  leadingArguments: [],
  inheritEnvironment: [...NETWORK_ENVIRONMENT, 'AMP_*'],
  scrubEnvironment: [...NESTED_AGENT_MARKERS, ...FOREIGN_TERMINAL],
  transports: { pty: RAW_TRANSPORT, pipe: RAW_TRANSPORT },

  options: {},
  commandLine: { values: {}, choosesSession: [] },
  install: 'npm install -g @sourcegraph/amp',
  login: { command: 'amp login', environment: ['AMP_API_KEY'], evidence: null },
};
