import {
  FOREIGN_TERMINAL,
  NESTED_AGENT_MARKERS,
  NETWORK_ENVIRONMENT,
  RAW_TRANSPORT,
  USUAL_PLACES,
  type ProviderManifest,
} from '../manifest.ts';

/** Kimi Code. Read about and never run: its version is unknown territory, and it is a terminal until somebody has seen it do more. */
export const kimi: ProviderManifest = {
  id: 'kimi',
  displayName: 'Kimi Code',
  executable: { kind: 'search', names: ['kimi'], places: USUAL_PLACES },
  version: { arguments: ['--version'], scratchHome: true, known: null },
  leadingArguments: [],
  inheritEnvironment: [...NETWORK_ENVIRONMENT, 'KIMI_*', 'MOONSHOT_*'],
  scrubEnvironment: [...NESTED_AGENT_MARKERS, ...FOREIGN_TERMINAL],
  transports: { pty: RAW_TRANSPORT, pipe: RAW_TRANSPORT },
  unverifiedTransports: {
    pty: {
      identity: { kind: 'reported' },
      resume: { arguments: ['--session', '{id}'], at: 'front' },
      // Only pasted, when its composer is there.
      prompt: [],
    },
  },
  options: {
    model: { kind: 'value', arguments: ['-m', '{value}'], values: null, saidBy: ['-m', '--model'] },
    permissionMode: {
      kind: 'choice',
      choices: { default: [], auto: ['--auto'], yolo: ['--yolo'], plan: ['--plan'] },
      saidBy: ['--auto', '-y', '--yolo', '--plan'],
    },
  },
  commandLine: { values: {}, choosesSession: [] },
  install: 'npm install -g @moonshot-ai/kimi-code',
  login: {
    command: 'kimi login',
    environment: ['KIMI_API_KEY', 'MOONSHOT_API_KEY'],
    evidence: null,
  },
};
