import {
  FOREIGN_TERMINAL,
  NESTED_AGENT_MARKERS,
  NETWORK_ENVIRONMENT,
  RAW_TRANSPORT,
  USUAL_PLACES,
  type ProviderManifest,
} from '../manifest.ts';

/** GitHub Copilot CLI. Read about and never run: its version is unknown territory, and it is a terminal until somebody has seen it do more. */
export const copilot: ProviderManifest = {
  id: 'copilot',
  displayName: 'GitHub Copilot CLI',
  executable: { kind: 'search', names: ['copilot'], places: USUAL_PLACES },
  version: { arguments: ['--version'], scratchHome: true, known: null },
  leadingArguments: [],
  inheritEnvironment: [...NETWORK_ENVIRONMENT, 'COPILOT_*'],
  scrubEnvironment: [...NESTED_AGENT_MARKERS, ...FOREIGN_TERMINAL],
  transports: { pty: RAW_TRANSPORT, pipe: RAW_TRANSPORT },
  unverifiedTransports: { pty: { identity: null, resume: null, prompt: ['-i', '{prompt}'] } },
  options: {
    model: { kind: 'value', arguments: ['--model', '{value}'], values: null, saidBy: ['--model'] },
    effort: { kind: 'value', arguments: ['--effort', '{value}'], values: null, saidBy: ['--effort'] },
  },
  commandLine: { values: {}, choosesSession: [] },
  install: 'npm install -g @github/copilot',
  login: {
    command: 'copilot login',
    environment: ['COPILOT_GITHUB_TOKEN'],
    evidence: null,
  },
};
