// Scratch homes in which the real CLIs talk to a mock model server and to nobody else. Nothing of the user's own home is
// read or written.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TerminalCliName } from './versions.ts';

export interface HomeOptions {
  /** A folder of the test; made when it is not there. */
  home: string;
  /** The server's URL without a path. */
  baseUrl: string;
}

/**
 * Prepares HOME for Claude Code and returns the variables to add to PATH and TERM. Onboarding is marked as done, because
 * Claude Code 2.1.197 first wants to reach its vendor there and exits when it cannot; the questions about the folder and
 * the key still come.
 */
export async function claudeEnvironment({ home, baseUrl }: HomeOptions): Promise<Record<string, string>> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  await writeNew(join(home, '.claude.json'), JSON.stringify({ hasCompletedOnboarding: true }));
  return {
    HOME: home,
    ANTHROPIC_BASE_URL: baseUrl,
    ANTHROPIC_API_KEY: 'sk-ant-mock-0123456789abcdef0123456789',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    // As root it refuses some modes unless it is told that this machine is a sandbox.
    ...(process.getuid?.() === 0 ? { IS_SANDBOX: '1' } : {}),
  };
}

/**
 * Prepares HOME and CODEX_HOME for Codex and returns the variables to add to PATH and TERM. Start it with `--no-daemon`:
 * otherwise a background server stays behind when its terminal goes.
 */
export async function codexHome({ home, baseUrl }: HomeOptions): Promise<Record<string, string>> {
  const codex = join(home, '.codex');
  await mkdir(codex, { recursive: true, mode: 0o700 });
  const config = [
    'model = "mock-model"',
    'model_provider = "mock"',
    'check_for_update_on_startup = false',
    '',
    '[analytics]',
    'enabled = false',
    '',
    '[model_providers.mock]',
    'name = "mock"',
    `base_url = ${JSON.stringify(`${baseUrl}/v1`)}`,
    'wire_api = "responses"',
    'env_key = "OPENAI_MOCK_KEY"',
    '',
  ];
  await writeNew(join(codex, 'config.toml'), config.join('\n'));
  return { HOME: home, CODEX_HOME: codex, OPENAI_MOCK_KEY: 'mock-key' };
}

/**
 * Prepares HOME for Gemini CLI and returns the variables to add to PATH and TERM. The model is a fixed one, because the
 * automatic choice asks the server which to take before each prompt.
 */
export async function geminiHome({ home, baseUrl }: HomeOptions): Promise<Record<string, string>> {
  const settings = {
    security: { auth: { selectedType: 'gemini-api-key' } },
    general: {
      enableAutoUpdate: false,
      enableAutoUpdateNotification: false,
      sessionRetention: { enabled: false },
    },
    model: { name: 'gemini-2.5-flash' },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
  };
  await writeSettings(join(home, '.gemini'), 'settings.json', settings);
  return { HOME: home, GEMINI_API_KEY: 'mock-key', GOOGLE_GEMINI_BASE_URL: baseUrl };
}

/** Answers the question for trust of Gemini CLI beforehand. */
export async function trustFolder(home: string, folder: string): Promise<void> {
  await writeFile(join(home, '.gemini', 'trustedFolders.json'), JSON.stringify({ [folder]: 'TRUST_FOLDER' }));
}

/**
 * Prepares HOME and the XDG folders for OpenCode and returns the variables to add to PATH and TERM. Commands and edits
 * ask for permission; without being told to, it carries out everything.
 */
async function opencodeHome({ home, baseUrl }: HomeOptions): Promise<Record<string, string>> {
  const config = {
    $schema: 'https://opencode.ai/config.json',
    autoupdate: false,
    share: 'disabled',
    model: 'mock/mock-model',
    small_model: 'mock/mock-model',
    permission: { bash: 'ask', edit: 'ask' },
    enabled_providers: ['mock'],
    provider: {
      mock: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Mock',
        options: { baseURL: `${baseUrl}/v1`, apiKey: 'mock-key' },
        models: { 'mock-model': { name: 'Mock Model', limit: { context: 128_000, output: 8_192 } } },
      },
    },
  };
  const folders = {
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_DATA_HOME: join(home, '.local', 'share'),
    XDG_STATE_HOME: join(home, '.local', 'state'),
    XDG_CACHE_HOME: join(home, '.cache'),
  };
  await writeSettings(join(folders.XDG_CONFIG_HOME, 'opencode'), 'opencode.json', config);
  return {
    HOME: home,
    ...folders,
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  };
}

/** Prepares HOME for Qwen Code and returns the variables to add to PATH and TERM. */
export async function qwenHome({ home, baseUrl }: HomeOptions): Promise<Record<string, string>> {
  const settings = {
    security: { auth: { selectedType: 'openai' } },
    general: { disableAutoUpdate: true, disableUpdateNag: true, enableAutoUpdate: false },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
  };
  await writeSettings(join(home, '.qwen'), 'settings.json', settings);
  return {
    HOME: home,
    OPENAI_API_KEY: 'mock-key',
    OPENAI_BASE_URL: `${baseUrl}/v1`,
    OPENAI_MODEL: 'mock-model',
  };
}

/** The home of each CLI by its name. */
export const HOMES: Readonly<
  Record<TerminalCliName, (options: HomeOptions) => Promise<Record<string, string>>>
> = {
  claude: claudeEnvironment,
  codex: codexHome,
  gemini: geminiHome,
  opencode: opencodeHome,
  qwen: qwenHome,
};

async function writeSettings(folder: string, name: string, settings: unknown): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeNew(join(folder, name), `${JSON.stringify(settings, null, 2)}\n`);
}

/** Leaves the file of an earlier run in this home alone: the CLI has written its own answers into it. */
async function writeNew(file: string, text: string): Promise<void> {
  await writeFile(file, text, { mode: 0o600, flag: 'wx' }).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  });
}
