// Scratch homes in which the real CLIs talk to a mock model server and to nobody else. Nothing of the user's own home is
// read or written.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

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
    'env_key = "MOCK_API_KEY"',
    '',
  ];
  await writeNew(join(codex, 'config.toml'), config.join('\n'));
  return { HOME: home, CODEX_HOME: codex, MOCK_API_KEY: 'mock-key' };
}

/** Leaves the file of an earlier run in this home alone: the CLI has written its own answers into it. */
async function writeNew(file: string, text: string): Promise<void> {
  await writeFile(file, text, { mode: 0o600, flag: 'wx' }).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  });
}
