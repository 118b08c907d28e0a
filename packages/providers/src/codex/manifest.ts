import {
  FOREIGN_TERMINAL,
  NESTED_AGENT_MARKERS,
  NETWORK_ENVIRONMENT,
  RAW_TRANSPORT,
  USUAL_PLACES,
  type ProviderManifest,
} from '../manifest.ts';
import { CODEX_SCREEN } from './screen.ts';

/**
 * Codex. Left alone, its terminal interface hands the work to a background server that sessions share: it keeps the
 * environment of whichever session started it, outlives that session, and ends everybody's work when it is ended with it.
 * `--no-daemon` keeps each session's work in its own process tree. It is accepted in front of every subcommand
 * (0.171.0), and behind few of them.
 */
export const codex: ProviderManifest = {
  id: 'codex',
  displayName: 'Codex',
  executable: { kind: 'search', names: ['codex'], places: USUAL_PLACES },
  // 0.171.0: "codex-cli 0.171.0", with a warning beside it on standard error; nothing is written.
  version: { arguments: ['--version'], scratchHome: false, known: { from: '0.171.0', below: '1.0.0' } },
  leadingArguments: ['--no-daemon'],
  inheritEnvironment: [
    ...NETWORK_ENVIRONMENT,
    'OPENAI_*',
    'CODEX_HOME',
    'CODEX_API_KEY',
    'CODEX_CA_CERTIFICATE',
    'AZURE_OPENAI_API_KEY',
  ],
  scrubEnvironment: [...NESTED_AGENT_MARKERS, ...FOREIGN_TERMINAL],
  // Its session id is its own, and known only after its first prompt.
  transports: {
    pty: {
      identity: { kind: 'reported' },
      resume: { arguments: ['resume', '{id}'], at: 'end' },
      prompt: ['--', '{prompt}'],
    },
    pipe: RAW_TRANSPORT,
  },
  options: {
    model: { kind: 'value', arguments: ['-m', '{value}'], values: null, saidBy: ['-m', '--model'] },
    // What it may do is what its sandbox lets it do.
    permissionMode: {
      kind: 'value',
      arguments: ['-s', '{value}'],
      values: ['read-only', 'workspace-write', 'danger-full-access'],
      saidBy: ['-s', '--sandbox', '--dangerously-bypass-approvals-and-sandbox'],
    },
    effort: {
      kind: 'value',
      arguments: ['-c', 'model_reasoning_effort={value}'],
      values: ['minimal', 'low', 'medium', 'high', 'xhigh'],
      saidBy: ['-c', '--config'],
      saidAs: 'model_reasoning_effort=',
    },
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
  install: 'npm install -g @openai/codex',
  login: {
    command: 'codex login',
    environment: ['CODEX_API_KEY', 'OPENAI_API_KEY'],
    // 0.171.0: answers without the network, on standard error.
    evidence: { kind: 'ask', arguments: ['login', 'status'], yes: /^Logged in/m, no: /^Not logged in/m },
  },
  interruptKeys: '\x1b',
  screen: CODEX_SCREEN,
  // 0.171.0. Options of the conversation are given as `-c key=value`.
  structured: { protocol: 'codex-app-server', arguments: ['app-server'], resumedBy: 'driver' },
};
