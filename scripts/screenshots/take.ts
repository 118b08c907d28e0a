/** The pictures of the web UI, each of one page of a demo fleet. */
import { mkdirSync, statSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { browserPath } from '../../test/support/browser.ts';
import { HubPages, type PageLook } from '../../test/support/hub-pages.ts';
import { startDemo } from './demo.ts';

const DIRECTORY = new URL('../../docs/img/', import.meta.url).pathname;
/** Bytes of one picture. */
const PICTURE_BYTES_MAX = 200 * 1024;
const WIDE = { width: 1_440, height: 900 };
const NARROW = { width: 390, height: 844 };

interface Picture {
  readonly name: string;
  readonly size: { readonly width: number; readonly height: number };
  readonly colorScheme: NonNullable<PageLook['colorScheme']>;
  /** `bob`: the page of one who looks on in the session `tests`. */
  readonly show: (page: Page, pages: HubPages, bob: Page) => Promise<unknown>;
}

const dark = (name: string, show: Picture['show'], size = WIDE): Picture => ({
  name,
  size,
  colorScheme: 'dark',
  show,
});

const showBoard = async (page: Page): Promise<void> => {
  await page.getByRole('link', { name: /^fix-login/ }).waitFor();
  // Those in sight have their pictures.
  await page.locator('[data-session-card] [data-shown]').first().waitFor();
};

const showConversation = async (page: Page, pages: HubPages): Promise<void> => {
  await pages.goToSession(page, 'fix-login');
  await page.getByRole('region', { name: 'What it asks' }).getByRole('button').first().waitFor();
  await page.getByRole('log').getByText('Edit', { exact: true }).click();
};

const showTerminal = async (page: Page, pages: HubPages): Promise<void> => {
  await pages.goToSession(page, 'tests');
  await page.getByText(/^(You drive|Watching)/).waitFor();
};

const showFile = async (page: Page, pages: HubPages): Promise<void> => {
  await pages.goToWorkspace(page, 'shop', 'mill');
  await page.getByText('src/', { exact: true }).click();
  await page.getByText('cart.ts', { exact: true }).click();
  await page.getByLabel('Text of src/cart.ts').waitFor();
};

const PICTURES: readonly Picture[] = [
  dark('board-dark', showBoard),
  { name: 'board-light', size: WIDE, colorScheme: 'light', show: showBoard },
  dark('board-phone', showBoard, NARROW),
  dark('terminal', async (page, pages, bob) => {
    await showTerminal(page, pages);
    await page.getByText('You drive').waitFor();
    await bob.getByRole('button', { name: 'Ask to drive' }).click();
    await page.getByText('bob asks to drive').waitFor();
  }),
  dark(
    'terminal-phone',
    async (page, pages, bob) => {
      // Who asked drives, now that nobody does.
      await bob.getByText('You drive').waitFor();
      await showTerminal(page, pages);
      await page.getByText('bob drives').waitFor();
    },
    NARROW,
  ),
  dark('conversation', showConversation),
  dark('conversation-phone', showConversation, NARROW),
  dark('launch', async (page) => {
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog', { name: 'New session' });
    await dialog.getByLabel('Machine').click();
    await page.getByRole('option', { name: 'mill' }).click();
    await dialog.getByRole('textbox', { name: 'First prompt' }).fill('Look at what changed since yesterday.');
    await dialog.getByRole('button', { name: 'Start' }).click();
    await dialog.getByText(/ runs\.$/).waitFor({ timeout: 60_000 });
  }),
  dark('palette', async (page) => {
    await page.keyboard.press('Control+k');
    await page.getByRole('textbox', { name: 'Go to' }).fill('sh');
  }),
  dark('fleet', (page, pages) => pages.go(page, '/fleet', 'Fleet')),
  dark('records', (page, pages) => pages.go(page, '/records', 'Records')),
  dark('worktrees', async (page, pages) => {
    await pages.go(page, '/worktrees', 'Worktrees');
    await page.getByText('try-sqlite').waitFor();
  }),
  dark('audit', (page, pages) => pages.go(page, '/audit', 'Audit')),
  dark('settings', (page, pages) => pages.go(page, '/settings', 'Settings')),
  dark('invite', async (page, pages) => {
    await pages.go(page, '/settings', 'Settings');
    await page.getByRole('button', { name: 'Invite a machine' }).click();
    await page.getByRole('textbox', { name: 'What it will be called' }).fill('barn');
    await page.getByRole('button', { name: 'Make a code' }).click();
    await page.getByRole('textbox', { name: /^It asks for this code/ }).waitFor();
  }),
  dark('file', showFile),
  dark('changes', async (page, pages) => {
    await pages.goToWorkspace(page, 'shop', 'mill');
    await page.getByText('Changes', { exact: true }).click();
    await page.getByRole('region', { name: 'Differences of src/cart.ts' }).waitFor();
  }),
  dark('history', async (page, pages) => {
    await pages.goToWorkspace(page, 'shop', 'mill');
    await page.getByText('History', { exact: true }).click();
    await page.getByRole('button', { name: /Log in by name/ }).click();
  }),
];

const chromium = browserPath();
if (chromium === null) throw new Error('no Chromium on this machine; ROOST_CHROMIUM may name one');
const wanted = process.argv.slice(3);
mkdirSync(DIRECTORY, { recursive: true });
await using demo = await startDemo(process.argv[2] ?? null);
await using pages = await HubPages.of(demo.mill, chromium);
// Somebody else looks on.
const bob = await pages.open({ user: 'bob', width: 600 });
await pages.goToSession(bob.page, 'tests');
const ada = await pages.open({ user: 'ada' });
const origin = new URL(ada.login).origin;
const storageState = await ada.page.context().storageState();
await ada.page.context().close();
for (const { name, size: viewport, colorScheme, show } of PICTURES) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const context = await pages.browser.newContext({ storageState, viewport, colorScheme });
  const page = await context.newPage();
  await page.goto(origin);
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  await show(page, pages, bob.page);
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'hidden' });
  // What was pressed last no longer shines, and what moves has come to rest.
  await page.mouse.move(0, 0);
  await page.waitForTimeout(1_500);
  const path = `${DIRECTORY}${name}.png`;
  await page.screenshot({ path, animations: 'disabled', caret: 'hide' });
  const { size: bytes } = statSync(path);
  console.log(`${name}.png ${Math.ceil(bytes / 1_024)} KB`);
  if (bytes > PICTURE_BYTES_MAX) throw new Error(`${name}.png is too large`);
  await context.close();
}
