import {
  FOREIGN_TERMINAL,
  NESTED_AGENT_MARKERS,
  NETWORK_ENVIRONMENT,
  SPOKEN_TRANSPORT,
  USUAL_PLACES,
  type ProviderManifest,
} from '../manifest.ts';
import { OPENCODE_HISTORY } from './history.ts';
import { OPENCODE_HOOKS } from './hooks.ts';
import { OPENCODE_COMPOSER, OPENCODE_SCREEN } from './screen.ts';

/** opencode: one native process. */
export const opencode: ProviderManifest = {
  id: 'opencode',
  displayName: 'opencode',
  executable: {
    kind: 'search',
    names: ['opencode'],
    places: ['~/.opencode/bin', ...USUAL_PLACES],
  },
  // 1.18.33: "1.18.33"; it makes its directories first.
  version: { arguments: ['--version'], scratchHome: true, known: { from: '1.18.0', below: '2.0.0' } },
  leadingArguments: [],
  inheritEnvironment: [
    ...NETWORK_ENVIRONMENT,
    'OPENCODE_*',
    'ANTHROPIC_API_KEY',
    'OPENAI_API_KEY',
    'OPENROUTER_API_KEY',
    'GEMINI_API_KEY',
    'GOOGLE_GENERATIVE_AI_API_KEY',
    'GROQ_API_KEY',
    'MISTRAL_API_KEY',
    'XAI_API_KEY',
  ],
  scrubEnvironment: [...NESTED_AGENT_MARKERS, ...FOREIGN_TERMINAL],
  // 1.18.33: makes its own session id, and begins with a prompt that it is given.
  transports: {
    pty: {
      identity: { kind: 'reported' },
      resume: { arguments: ['--session', '{id}'], at: 'front' },
      prompt: ['--prompt={prompt}'],
    },
    pipe: SPOKEN_TRANSPORT,
  },
  options: {
    model: { kind: 'value', arguments: ['--model={value}'], values: null, saidBy: ['-m', '--model'] },
    permissionMode: {
      kind: 'choice',
      choices: { default: [], auto: ['--auto'] },
      saidBy: ['--auto'],
    },
  },
  commandLine: {
    values: {
      '--log-level': 'one',
      '--port': 'one',
      '--hostname': 'one',
      '--mdns-domain': 'one',
      '--cors': 'many',
      '-m': 'one',
      '--model': 'one',
      '-s': 'one',
      '--session': 'one',
      '--prompt': 'one',
      '--agent': 'one',
      '--replay-limit': 'one',
    },
    choosesSession: ['-c', '--continue', '-s', '--session', '--fork', '--prompt'],
  },
  install: 'npm install -g opencode-ai',
  login: {
    command: 'opencode auth login',
    environment: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OPENROUTER_API_KEY', 'GEMINI_API_KEY'],
    evidence: {
      kind: 'files',
      variable: null,
      directory: '~/.local/share/opencode',
      credentials: ['auth.json'],
    },
  },
  hooks: OPENCODE_HOOKS,
  // 1.18.33: the first one asks for the second, and two that come within 50 ms are taken for another key.
  interruptKeys: ['\x1b', '\x1b'],
  screen: OPENCODE_SCREEN,
  history: OPENCODE_HISTORY,
  composer: OPENCODE_COMPOSER,
  // 1.18.33. Its model and modes are choices of the conversation, no options.
  structured: { protocol: 'acp', arguments: ['acp'], resumedBy: 'driver', options: {} },
};
