import {
  FOREIGN_TERMINAL,
  NESTED_AGENT_MARKERS,
  NETWORK_ENVIRONMENT,
  RAW_TRANSPORT,
  USUAL_PLACES,
  type ProviderManifest,
} from '../manifest.ts';

/** Cursor CLI. Read about and never run: its version is unknown territory, and it is a terminal until somebody has seen it do more. */
export const cursorAgent: ProviderManifest = {
  id: 'cursor-agent',
  displayName: 'Cursor CLI',
  executable: { kind: 'search', names: ['cursor-agent'], places: USUAL_PLACES },
  version: { arguments: ['--version'], scratchHome: true, known: null },
  leadingArguments: [],
  inheritEnvironment: [...NETWORK_ENVIRONMENT, 'CURSOR_API_*'],
  scrubEnvironment: [...NESTED_AGENT_MARKERS, ...FOREIGN_TERMINAL],
  transports: { pty: RAW_TRANSPORT, pipe: RAW_TRANSPORT },
  unverifiedTransports: { pty: { identity: null, resume: null, prompt: ['{prompt}'] } },
  options: {
    model: { kind: 'value', arguments: ['--model', '{value}'], values: null, saidBy: ['--model'] },
  },
  commandLine: { values: {}, choosesSession: [] },
  install: 'curl https://cursor.com/install -fsS | bash',
  login: { command: 'cursor-agent login', environment: ['CURSOR_API_KEY'], evidence: null },
};
