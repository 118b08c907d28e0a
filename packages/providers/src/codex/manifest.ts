import {
  FOREIGN_TERMINAL,
  NESTED_AGENT_MARKERS,
  NETWORK_ENVIRONMENT,
  SPOKEN_TRANSPORT,
  USUAL_PLACES,
  type ProviderManifest,
  type ProviderOption,
} from '../manifest.ts';
import { CODEX_HISTORY } from './history.ts';
import { CODEX_HOOKS } from './hooks.ts';
import { CODEX_COMPOSER, CODEX_SCREEN } from './screen.ts';

const SANDBOX_MODES = ['read-only', 'workspace-write', 'danger-full-access'];

/** A caller says the same with a `-c` of his own. */
const setting = (name: string) => ({ saidBy: ['-c', '--config'], saidAs: `${name}=` });

const EFFORT: ProviderOption = {
  kind: 'value',
  arguments: ['-c', 'model_reasoning_effort={value}'],
  values: ['minimal', 'low', 'medium', 'high', 'xhigh'],
  ...setting('model_reasoning_effort'),
};

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
    pipe: SPOKEN_TRANSPORT,
  },
  options: {
    model: { kind: 'value', arguments: ['-m', '{value}'], values: null, saidBy: ['-m', '--model'] },
    // What it may do is what its sandbox lets it do.
    permissionMode: {
      kind: 'value',
      arguments: ['-s', '{value}'],
      values: SANDBOX_MODES,
      saidBy: ['-s', '--sandbox', '--dangerously-bypass-approvals-and-sandbox'],
    },
    effort: EFFORT,
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
  hooks: CODEX_HOOKS,
  interruptKeys: ['\x1b'],
  screen: CODEX_SCREEN,
  history: CODEX_HISTORY,
  composer: CODEX_COMPOSER,
  // 0.171.0. As a server it takes no options but settings.
  structured: {
    protocol: 'codex-app-server',
    arguments: ['app-server'],
    resumedBy: 'driver',
    options: {
      model: { kind: 'value', arguments: ['-c', 'model={value}'], values: null, ...setting('model') },
      permissionMode: {
        kind: 'value',
        arguments: ['-c', 'sandbox_mode={value}'],
        values: SANDBOX_MODES,
        ...setting('sandbox_mode'),
      },
      effort: EFFORT,
    },
  },
};
