import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { passFirstRunScreens } from './first-run-screens.ts';

const RULE = '─'.repeat(40);
const TRUST = ' ❯ 1. Yes, I trust this folder\n   2. No, exit';
const KEY = 'Do you want to use this API key?\n    1. Yes\n  ❯ 2. No (recommended)';
const COMPOSER = `${RULE}\n❯ \n${RULE}\n  ? for shortcuts`;

/** Shows the screens one after the other; each goes away on its key. */
function show(
  screens: readonly (readonly [screen: string, key: string])[],
  end: string,
  loseFirstKey = false,
) {
  let at = 0;
  let lose = loseFirstKey;
  const sent: string[] = [];
  return {
    sent,
    readScreen: () => Promise.resolve(screens[at]?.[0] ?? end),
    sendKeys: (key: string) => {
      sent.push(key);
      if (lose) lose = false;
      else if (screens[at]?.[1] === key) at++;
    },
  };
}

test('each screen is answered once, with its key, until the composer is seen', async () => {
  const fake = show(
    [
      [TRUST, '\r'],
      [KEY, '1'],
    ],
    COMPOSER,
  );
  const { screens } = await passFirstRunScreens('claude', fake);
  expect(screens.map(({ name }) => name)).toEqual(['trust-folder', 'api-key']);
  expect(fake.sent).toEqual(['\r', '1']);
});

test('a key that was lost is sent again', async () => {
  const fake = show([[TRUST, '\r']], COMPOSER, true);
  const { screens } = await passFirstRunScreens('claude', fake);
  expect(screens).toHaveLength(1);
  expect(fake.sent).toEqual(['\r', '\r']);
});

test('the composer that codex draws before its trust screen does not count', async () => {
  const early = show([], '› Ask Codex to do anything\n\n  ? for shortcuts');
  await expect(passFirstRunScreens('codex', { ...early, deadlineMs: 400 })).rejects.toThrow(
    /not ready after 400 ms.*starting[^]*Ask Codex/,
  );
  const late = show([], '› Ask Codex to do anything\n\n  mock-model default · /work\n  ? for shortcuts');
  await expect(passFirstRunScreens('codex', late)).resolves.toMatchObject({ screens: [] });
});

/** The screens as they were captured from the real CLIs. */
function captured(cli: string, name: string): string {
  const file = new URL(`../../../providers/fixtures/${cli}/screens/${name}.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { lines: string[] }).lines.join('\n');
}

test.for([
  [
    'claude',
    [
      ['trust-folder', '\r'],
      ['api-key', '1'],
    ],
  ],
  ['codex', [['trust-folder', '\r']]],
  ['gemini', [['trust-folder', '1']]],
  ['opencode', []],
  ['qwen', []],
] as const)('%s: the captured screens of a first start are answered', async ([cli, dialogs]) => {
  const fake = show(
    dialogs.map(([name, key]) => [captured(cli, `blocked-${name}`), key] as const),
    captured(cli, 'idle-fresh'),
  );
  const { screens } = await passFirstRunScreens(cli, fake);
  expect(screens.map(({ name }) => name)).toEqual(dialogs.map(([name]) => name));
  expect(fake.sent).toEqual(dialogs.map(([, key]) => key));
});
