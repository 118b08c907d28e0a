/** Whether a launch is made to report, and that reports are left as they should be by what the agents are given to run. */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { planHooks } from './hook-plan.ts';
import { findProvider } from './index.ts';

const place = { directory: '/hooks', exists: () => false };
const plan = (id: string, { given = [] as string[], environment = {}, files = [] as string[] } = {}) =>
  planHooks(
    findProvider(id) ?? {},
    { transport: 'pty', arguments: given, hooks: { ...place, exists: (path) => files.includes(path) } },
    environment,
  );

describe('an agent is made to report', () => {
  test.each([
    ['claude', ['--settings', '/hooks/claude-settings.json'], {}],
    ['qwen', [], { QWEN_CODE_SYSTEM_DEFAULTS_PATH: '/hooks/qwen-defaults.json' }],
    ['opencode', [], { OPENCODE_CONFIG_CONTENT: '{"plugin":["file:///hooks/opencode-plugin.js"]}' }],
  ])('%s', (id, args, environment) => {
    expect(plan(id)).toEqual({ arguments: args, environment });
  });

  test('codex, with trust in exactly what it is given', () => {
    const { arguments: args, environment } = plan('codex')!;
    expect(environment).toEqual({});
    expect(args).toHaveLength(2);
    expect(args[0]).toBe('-c');
    expect(args[1]).toMatch(
      /^hooks=\{SessionStart=\[\{hooks=\[\{type="command",command="exec \/bin\/sh -c '/,
    );
    expect(args[1]?.match(/trusted_hash="sha256:[0-9a-f]{64}"/g)).toHaveLength(10);
  });

  test.each([
    ['claude', { given: ['--settings', 'mine.json'] }],
    ['claude', { given: ['--settings=mine.json'] }],
    ['codex', { given: ['-c', 'hooks.Stop=[]'] }],
    ['codex', { given: ['-chooks={}'] }],
    ['codex', { given: ['--config=hooks.state={}'] }],
    ['qwen', { environment: { QWEN_CODE_SYSTEM_DEFAULTS_PATH: '/mine.json' } }],
    ['qwen', { environment: { QWEN_CODE_SYSTEM_SETTINGS_PATH: '/mine.json' } }],
    ['qwen', { files: ['/etc/qwen-code/system-defaults.json'] }],
    ['opencode', { environment: { OPENCODE_CONFIG_CONTENT: '{}' } }],
    ['gemini', {}],
    ['shell', {}],
  ])('but not %s with %j: that would displace what is there', (id, scene) => {
    expect(plan(id, scene)).toBeNull();
  });

  test.each([
    ['claude', { given: ['--', '--settings'] }],
    ['codex', { given: ['-c', 'model="hooks"'] }],
    ['qwen', { environment: { QWEN_CODE_SYSTEM_DEFAULTS_PATH: '' } }],
  ])('%s with %j: that says nothing of hooks', (id, scene) => {
    expect(plan(id, scene)).not.toBeNull();
  });

  test('only in a terminal', () => {
    const scene = { transport: 'pipe', arguments: [], hooks: place } as const;
    expect(planHooks(findProvider('claude')!, scene, {})).toBeNull();
  });
});

describe('a report', () => {
  let home: string;
  let reports: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "roost it's a home "));
    reports = join(home, 'sessions', 's', 'reports');
    mkdirSync(reports, { recursive: true });
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  const session = () => ({ ROOST_HOME: home, ROOST_SESSION_ID: 's' });
  const left = () =>
    readdirSync(reports).map((name): unknown => JSON.parse(readFileSync(join(reports, name), 'utf8')));
  const commandOf = (id: 'claude' | 'codex' | 'qwen'): string => {
    if (id === 'codex') {
      const [setting] = /command=("(?:[^"\\]|\\.)*")/.exec(plan('codex')?.arguments[1] ?? '')?.slice(1) ?? [];
      return JSON.parse(setting ?? '""') as string;
    }
    const { hooks } = JSON.parse(findProvider(id)?.hooks?.file?.content ?? '') as {
      hooks: { Stop: [{ hooks: [{ command: string }] }] };
    };
    return hooks.Stop[0].hooks[0].command;
  };
  const run = (id: 'claude' | 'codex' | 'qwen', env: Record<string, string>) => {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', commandOf(id)], {
      input: '{"a":1}',
      env: { PATH: process.env.PATH, ...env },
      encoding: 'utf8',
    });
    return { status, said: stdout + stderr };
  };

  test.each(['claude', 'codex', 'qwen'] as const)('of %s is left whole, and nothing is said', (id) => {
    expect(run(id, session())).toEqual({ status: 0, said: '' });
    expect(left()).toEqual([{ a: 1 }]);
    expect(readdirSync(reports)).toEqual([expect.stringMatching(/^\d+\.json$/)]);
  });

  test.each(['claude', 'codex', 'qwen'] as const)('of %s is not left outside of Roost', (id) => {
    expect(run(id, {})).toEqual({ status: 0, said: '' });
    expect(run(id, { ...session(), ROOST_SESSION_ID: 'gone' })).toEqual({ status: 0, said: '' });
    rmSync(join(home, 'sessions'), { recursive: true });
    expect(run(id, session())).toEqual({ status: 0, said: '' });
    expect(existsSync(join(home, 'sessions'))).toBe(false);
  });

  test('of a qwen that another one runs is not left', () => {
    expect(run('qwen', { ...session(), QWEN_CODE: '1' })).toEqual({ status: 0, said: '' });
    expect(left()).toEqual([]);
  });

  describe('of the plugin of opencode', () => {
    interface Plugin {
      event?: (given: unknown) => Promise<void>;
      'chat.message'?: (input: unknown, output: unknown) => Promise<void>;
      'shell.env'?: (input: unknown, output: { env: Record<string, string> }) => Promise<void>;
    }
    const load = async (env: Record<string, string>): Promise<Plugin> => {
      const file = join(home, `plugin-${Math.random()}.mjs`);
      writeFileSync(file, findProvider('opencode')?.hooks?.file?.content ?? '');
      const before = process.env;
      process.env = { ...before, ...env };
      try {
        const { RoostReports } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as {
          RoostReports: () => Promise<Plugin>;
        };
        return await RoostReports();
      } finally {
        process.env = before;
      }
    };
    const event = (type: string, properties: unknown) => ({ event: { type, properties } });

    test('tells of the session, not of those of its sub-agents, but of what they ask', async () => {
      const plugin = await load(session());
      await plugin.event?.(event('session.created', { sessionID: 'a', info: { id: 'a' } }));
      await plugin['chat.message']?.(
        { sessionID: 'a' },
        {
          parts: [
            { type: 'text', text: 'do it' },
            { type: 'text', text: 'x', synthetic: true },
            { type: 'file' },
          ],
        },
      );
      await plugin.event?.(event('session.created', { sessionID: 'b', info: { id: 'b', parentID: 'a' } }));
      await plugin['chat.message']?.({ sessionID: 'b' }, { parts: [{ type: 'text', text: 'child' }] });
      await plugin.event?.(event('permission.asked', { sessionID: 'b', id: 'p' }));
      await plugin.event?.(event('session.idle', { sessionID: 'b' }));
      await plugin.event?.(event('message.updated', { sessionID: 'a' }));
      await plugin.event?.(event('session.idle', { sessionID: 'a' }));
      expect(left()).toEqual([
        { type: 'session.created', properties: { sessionID: 'a', info: { id: 'a' } } },
        { type: 'chat.message', properties: { sessionID: 'a', text: 'do it' } },
        { type: 'permission.asked', properties: { sessionID: 'b', id: 'p' } },
        { type: 'session.idle', properties: { sessionID: 'a' } },
      ]);
    });

    test('tells the end of a failed turn once', async () => {
      const plugin = await load(session());
      await plugin.event?.(
        event('session.error', { sessionID: 'a', error: { name: 'MessageAbortedError' } }),
      );
      await plugin.event?.(event('session.idle', { sessionID: 'a' }));
      expect(left()).toHaveLength(1);
    });

    test('disturbs nobody, whatever it is given', async () => {
      const plugin = await load(session());
      for (const odd of [undefined, {}, { event: null }, event('session.idle', null)])
        await plugin.event?.(odd ?? {});
      await plugin['chat.message']?.(undefined, undefined);
      rmSync(reports, { recursive: true });
      await plugin.event?.(event('session.idle', { sessionID: 'a' }));
      expect(existsSync(reports)).toBe(false);
    });

    test('does nothing outside of Roost, and is not given to what opencode runs', async () => {
      expect(await load({})).toEqual({});
      const output = { env: {} };
      await (await load(session()))['shell.env']?.({}, output);
      expect(output.env).toEqual({ OPENCODE_CONFIG_CONTENT: '' });
    });
  });
});
