// Screens that a prepared home never shows: signing in, an update, hooks that nobody has reviewed.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { claudeEnvironment, codexHome, geminiHome, qwenHome } from '../real-cli/homes.ts';
import type { TerminalCliName } from '../real-cli/versions.ts';
import type { Stage } from './stage.ts';

interface Place {
  home: string;
  project: string;
  baseUrl: string;
}

interface ExtraScreen {
  prepare: (place: Place) => Promise<{ env: Record<string, string>; args?: readonly string[] }>;
  play: (stage: Stage) => Promise<void>;
}

const without = (environment: Record<string, string>, ...names: string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !names.includes(name)));

async function shootWhenStill(stage: Stage, name: string, reason: string, sees = /\S/): Promise<void> {
  await stage.terminal.waitForScreen('anything', (screen) => screen.trim().length > 40, 60_000);
  await stage.sees(sees, 60_000);
  await stage.settle({ quietMs: 2500, capMs: 12_000 });
  await stage.shoot(name, 'blocked', reason);
}

export const EXTRA_SCREENS: Readonly<Record<TerminalCliName, readonly ExtraScreen[]>> = {
  claude: [
    {
      prepare: async ({ home, baseUrl }) => ({
        env: without(await claudeEnvironment({ home, baseUrl }), 'ANTHROPIC_API_KEY'),
      }),
      play: async (stage) => {
        await stage.sees(/Yes, I trust this folder/);
        await stage.settle({ quietMs: 2500, capMs: 12_000 });
        await stage.shoot('blocked-trust-not-signed-in', 'blocked', 'trust');
        stage.press('\r');
        await stage.sees(/Not logged in/);
        await stage.settle({ quietMs: 2000, capMs: 8000 });
        await stage.shoot('blocked-login', 'blocked', 'login');
      },
    },
    {
      prepare: async ({ home, baseUrl }) => ({
        env: await claudeEnvironment({ home, baseUrl }),
        args: ['--dangerously-skip-permissions'],
      }),
      play: async (stage) => {
        await stage.sees(/Yes, I trust this folder/);
        stage.press('\r');
        await stage.sees(/Do you want to use this API key/);
        stage.press('1');
        await stage.settle({ quietMs: 2000, capMs: 8000 });
        await stage.shoot('blocked-bypass-warning', 'blocked', 'onboarding');
      },
    },
  ],
  codex: [
    {
      prepare: async ({ home }) => {
        await mkdir(join(home, '.codex'), { recursive: true });
        return { env: { HOME: home, CODEX_HOME: join(home, '.codex') } };
      },
      play: async (stage) => {
        await shootWhenStill(stage, 'blocked-login', 'login', /Sign in/);
      },
    },
    {
      prepare: async ({ home, baseUrl }) => {
        const env = await codexHome({ home, baseUrl });
        const hooks = { hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: 'true' }] }] } };
        await writeFile(join(home, '.codex', 'hooks.json'), JSON.stringify(hooks));
        return { env };
      },
      play: async (stage) => {
        await stage.sees(/Trust this folder/);
        stage.press('\r');
        await stage.sees(/Hooks need review/);
        await shootWhenStill(stage, 'blocked-hooks-review', 'hooks');
      },
    },
    {
      prepare: async ({ home, baseUrl }) => {
        const env = await codexHome({ home, baseUrl });
        const version = {
          latest_version: '99.0.0',
          last_checked_at: new Date().toISOString(),
          dismissed_version: null,
        };
        await writeFile(join(home, '.codex', 'version.json'), JSON.stringify(version));
        return { env, args: ['--no-daemon', '-c', 'check_for_update_on_startup=true'] };
      },
      play: async (stage) => {
        await shootWhenStill(stage, 'blocked-update', 'update', /Update available/);
      },
    },
  ],
  gemini: [
    {
      prepare: async ({ home }) => {
        await mkdir(join(home, '.gemini'), { recursive: true });
        await writeFile(
          join(home, '.gemini', 'settings.json'),
          JSON.stringify({
            general: { enableAutoUpdate: false },
            privacy: { usageStatisticsEnabled: false },
          }),
        );
        return { env: { HOME: home }, args: ['--skip-trust'] };
      },
      play: async (stage) => {
        await shootWhenStill(stage, 'blocked-login', 'login', /authenticate/);
      },
    },
    {
      prepare: async ({ home, baseUrl }) => ({
        env: without(await geminiHome({ home, baseUrl }), 'GEMINI_API_KEY'),
        args: ['--skip-trust'],
      }),
      play: async (stage) => {
        await shootWhenStill(stage, 'blocked-api-key', 'api-key', /Enter Gemini API Key/);
      },
    },
  ],
  opencode: [],
  qwen: [
    {
      prepare: async ({ home }) => {
        await mkdir(join(home, '.qwen'), { recursive: true });
        await writeFile(
          join(home, '.qwen', 'settings.json'),
          JSON.stringify({ privacy: { usageStatisticsEnabled: false } }),
        );
        return { env: { HOME: home } };
      },
      play: async (stage) => {
        await shootWhenStill(stage, 'blocked-login', 'login');
      },
    },
    {
      prepare: async ({ home, baseUrl }) => ({
        env: without(await qwenHome({ home, baseUrl }), 'OPENAI_API_KEY'),
      }),
      play: async (stage) => {
        await shootWhenStill(stage, 'blocked-api-key', 'api-key');
      },
    },
  ],
};
