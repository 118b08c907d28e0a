import { RAW_TRANSPORT, type ProviderManifest } from '../manifest.ts';

/** The user's own shell. Its person types the commands, so it reaches the SSH agent as any terminal does. */
export const shell: ProviderManifest = {
  id: 'shell',
  displayName: 'Shell',
  executable: { kind: 'login-shell' },
  version: null,
  leadingArguments: [],
  inheritEnvironment: ['SSH_AUTH_SOCK'],
  scrubEnvironment: [],
  transports: { pty: RAW_TRANSPORT, pipe: RAW_TRANSPORT },
  options: {},
  commandLine: { values: {}, choosesSession: [] },
  install: null,
  login: null,
};
