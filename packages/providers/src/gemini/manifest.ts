import {
  FOREIGN_TERMINAL,
  NESTED_AGENT_MARKERS,
  NETWORK_ENVIRONMENT,
  SPOKEN_TRANSPORT,
  USUAL_PLACES,
  type ProviderManifest,
} from '../manifest.ts';
import { GEMINI_HISTORY } from './history.ts';
import { GEMINI_COMPOSER, GEMINI_SCREEN } from './screen.ts';

/** Gemini CLI: a Node.js script that starts itself again with a larger heap. */
export const gemini: ProviderManifest = {
  id: 'gemini',
  displayName: 'Gemini CLI',
  executable: { kind: 'search', names: ['gemini'], places: USUAL_PLACES },
  // 0.61.0: "0.61.0"; it leaves temporary files in ~/.gemini.
  version: { arguments: ['--version'], scratchHome: true, known: { from: '0.61.0', below: '1.0.0' } },
  leadingArguments: [],
  inheritEnvironment: [
    ...NETWORK_ENVIRONMENT,
    'GEMINI_*',
    'GOOGLE_API_KEY',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'GOOGLE_CLOUD_LOCATION',
    'GOOGLE_CLOUD_PROJECT',
    'GOOGLE_GEMINI_BASE_URL',
    'GOOGLE_GENAI_USE_GCA',
    'GOOGLE_GENAI_USE_VERTEXAI',
  ],
  scrubEnvironment: [...NESTED_AGENT_MARKERS, ...FOREIGN_TERMINAL],
  // 0.61.0: takes a UUID for a new session, resumes by it, and goes on after a prompt that it is given.
  transports: {
    pty: {
      identity: { kind: 'assigned', arguments: ['--session-id', '{id}'], format: 'uuid' },
      resume: { arguments: ['--resume', '{id}'], at: 'front' },
      prompt: ['--prompt-interactive={prompt}'],
    },
    pipe: SPOKEN_TRANSPORT,
  },
  options: {
    model: { kind: 'value', arguments: ['--model={value}'], values: null, saidBy: ['-m', '--model'] },
    permissionMode: {
      kind: 'value',
      arguments: ['--approval-mode={value}'],
      values: ['default', 'auto_edit', 'yolo', 'plan'],
      saidBy: ['--approval-mode', '-y', '--yolo'],
    },
    // 0.61.0 calls it deprecated, and takes it.
    allowedTools: {
      kind: 'value',
      arguments: ['--allowed-tools={value}'],
      values: null,
      saidBy: ['--allowed-tools'],
    },
  },
  commandLine: {
    values: {
      '-m': 'one',
      '--model': 'one',
      '-p': 'one',
      '--prompt': 'one',
      '-i': 'one',
      '--prompt-interactive': 'one',
      '-w': 'optional',
      '--worktree': 'optional',
      '--approval-mode': 'one',
      '--policy': 'many',
      '--admin-policy': 'many',
      '--allowed-mcp-server-names': 'many',
      '--allowed-tools': 'many',
      '-e': 'many',
      '--extensions': 'many',
      '-r': 'one',
      '--resume': 'one',
      '--session-file': 'one',
      '--session-id': 'one',
      '--delete-session': 'one',
      '--include-directories': 'many',
      '-o': 'one',
      '--output-format': 'one',
    },
    choosesSession: [
      '-p',
      '--prompt',
      '-i',
      '--prompt-interactive',
      '-r',
      '--resume',
      '--session-file',
      '--session-id',
      '-w',
      '--worktree',
    ],
    withoutComposer: ['-p', '--prompt'],
  },
  install: 'npm install -g @google/gemini-cli',
  login: {
    // It asks in its own interface.
    command: 'gemini',
    environment: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENAI_USE_VERTEXAI', 'GOOGLE_GENAI_USE_GCA'],
    evidence: { kind: 'files', variable: null, directory: '~/.gemini', credentials: ['oauth_creds.json'] },
  },
  // No hooks. 0.61.0 takes them from settings only: those of its person or project, which are not ours to change, and those of the
  // system, which a variable can move, and which it refuses with a warning on the screen unless they belong to root.
  interruptKeys: ['\x1b'],
  screen: GEMINI_SCREEN,
  history: GEMINI_HISTORY,
  composer: GEMINI_COMPOSER,
  // 0.61.0. In a folder that is not trusted it starts, and keeps its tools back.
  structured: { protocol: 'acp', arguments: ['--acp'], resumedBy: 'driver' },
};
