import {
  FOREIGN_TERMINAL,
  NESTED_AGENT_MARKERS,
  NETWORK_ENVIRONMENT,
  RAW_TRANSPORT,
  USUAL_PLACES,
  type ProviderManifest,
} from '../manifest.ts';

/** Grok. Read about and never run: its version is unknown territory, and it is a terminal until somebody has seen it do more. */
export const grok: ProviderManifest = {
  id: 'grok',
  displayName: 'Grok',
  executable: { kind: 'search', names: ['grok'], places: USUAL_PLACES },
  version: { arguments: ['--version'], scratchHome: true, known: null },
  leadingArguments: [],
  inheritEnvironment: [...NETWORK_ENVIRONMENT, 'GROK_*', 'XAI_*'],
  scrubEnvironment: [...NESTED_AGENT_MARKERS, ...FOREIGN_TERMINAL],
  transports: { pty: RAW_TRANSPORT, pipe: RAW_TRANSPORT },
  unverifiedTransports: {
    pty: {
      identity: { kind: 'reported' },
      resume: { arguments: ['--resume', '{id}'], at: 'front' },
      prompt: ['--', '{prompt}'],
    },
  },
  options: {},
  commandLine: { values: {}, choosesSession: [] },
  install: null,
  login: { command: 'grok', environment: ['GROK_API_KEY', 'XAI_API_KEY'], evidence: null },
};
