import { NETWORK_ENVIRONMENT, RAW_TRANSPORT, type ProviderManifest } from '../manifest.ts';

/**
 * Codex. Left alone, its terminal interface hands the work to a background server that sessions share: it keeps the
 * environment of whichever session started it, outlives that session, and ends everybody's work when it is ended with it.
 * `--no-daemon` keeps each session's work in its own process tree. It is accepted in front of every subcommand
 * (0.171.0), and behind few of them.
 */
export const codex: ProviderManifest = {
  id: 'codex',
  displayName: 'Codex',
  executable: { kind: 'search', names: ['codex'] },
  leadingArguments: ['--no-daemon'],
  inheritEnvironment: [
    ...NETWORK_ENVIRONMENT,
    'OPENAI_*',
    'CODEX_HOME',
    'CODEX_API_KEY',
    'CODEX_CA_CERTIFICATE',
    'AZURE_OPENAI_API_KEY',
  ],
  scrubEnvironment: ['AI_AGENT'],
  // Its session id is its own, and known only after its first prompt.
  transports: {
    pty: {
      identity: { kind: 'reported' },
      resume: { arguments: ['resume', '{id}'], at: 'end' },
      prompt: ['--', '{prompt}'],
    },
    pipe: RAW_TRANSPORT,
  },
  commandLine: {
    values: {
      '-c': 'one',
      '--config': 'one',
      '--enable': 'one',
      '--disable': 'one',
      '--remote': 'one',
      '--remote-auth-token-env': 'one',
      '-i': 'many',
      '--image': 'many',
      '-m': 'one',
      '--model': 'one',
      '--local-provider': 'one',
      '-p': 'one',
      '--profile': 'one',
      '-s': 'one',
      '--sandbox': 'one',
      '-C': 'one',
      '--cd': 'one',
      '--add-dir': 'one',
      '-a': 'one',
      '--ask-for-approval': 'one',
    },
    choosesSession: ['-i', '--image', '--worktree', '--last', '--all'],
  },
};
