import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { accessFaults, browserPath } from '../support/browser.ts';
import { HubPages } from '../support/hub-pages.ts';
import { RoostHome } from '../support/roost-home.ts';
import { makeRepository } from '../support/scratch-repository.ts';
import { putStandInAgent } from '../support/stand-in-agent.ts';
import { waitFor } from '../support/wait-for.ts';

const chromium = browserPath();
/** Milliseconds for what a page shows after a process was started anew. */
const RESTART = { timeout: 45_000 };

describe.skipIf(chromium === null)('the pages of a hub', () => {
  let roost: RoostHome;
  let pages: HubPages;

  beforeAll(async () => {
    roost = new RoostHome();
    putStandInAgent(roost);
    writeFileSync(join(roost.work, 'notes.txt'), 'one\n');
    makeRepository(roost.work);
    await roost.ok(['up']);
    await roost.ok(['workspace', 'add', roost.work]);
    await roost.run('shell', ['bash', '--norc']);
    pages = await HubPages.of(roost, chromium ?? '');
  });
  afterAll(async () => {
    await pages[Symbol.asyncDispose]();
    await roost[Symbol.asyncDispose]();
  });
  afterEach(() => pages.closeAll());

  it('log in by a link that works once, ask nothing of elsewhere, and keep to their policy', async () => {
    const { page, faults, login } = await pages.open();
    await page.getByRole('link', { name: /^shell/ }).waitFor();
    const second = await (await pages.browser.newContext()).newPage();
    await second.goto(login);
    await second.getByText('This link did not log you in').waitFor();
    expect(faults).toEqual([]);
  });

  it('ask the hub for everything that they show first once, whoever asks', async () => {
    const { page } = await pages.open();
    const card = page.getByRole('link', { name: /^shell/ });
    await card.waitFor();
    const asked: string[] = [];
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (/^\/api\/v1\/\w+$/.test(pathname)) asked.push(pathname);
    });
    const first = ['events', 'me', 'nodes', 'records', 'sessions', 'workspaces'].map(
      (name) => `/api/v1/${name}`,
    );
    await page.reload();
    await card.waitFor();
    expect(asked.sort()).toEqual(first);
    // All of it was asked before the page could.
    expect(await page.evaluate('globalThis.roostAhead.size')).toBe(0);

    asked.length = 0;
    await page.context().clearCookies();
    await page.reload();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    expect(asked.sort()).toEqual(first.slice(0, 2));
  });

  it('wait for the first answers for a moment only, and show that they wait', async () => {
    const { page } = await pages.open();
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    await page.route(/\/api\/v1\/me$/, async (route) => {
      await held;
      await route.continue();
    });
    await page.reload();
    await page.getByLabel('Loading').waitFor();
    letGo();
    await page.getByRole('link', { name: /^shell/ }).waitFor();
  });

  it('type into a terminal, are watched by another page, and are taken over by it', async () => {
    const first = await pages.open();
    await pages.goToSession(first.page, 'shell');
    await first.page.getByText('You drive').waitFor();
    await first.page.keyboard.type('echo from-$((1 + 1))-pages\r');
    await roost.screenShows('shell', /^from-2-pages$/m);
    const second = await pages.open();
    await pages.goToSession(second.page, 'shell');
    await second.page.getByText(/^Watching/).waitFor();
    await second.page.keyboard.type('echo never\r');
    await second.page.getByRole('button', { name: 'Take over' }).click();
    await second.page.getByText('You drive').waitFor();
    await first.page.getByText(/^Watching/).waitFor();
    await second.page.keyboard.type('echo taken-$((1 + 2))\r');
    const screen = await roost.screenShows('shell', /^taken-3$/m);
    expect(screen).not.toContain('never');
    expect(await accessFaults(second.page)).toEqual([]);
    expect([...first.faults, ...second.faults]).toEqual([]);
  });

  it('show who else has a terminal open, and who drives it', async () => {
    for (const user of ['ada', 'bob']) await roost.ok(['hub', 'user', 'add', user, '--role', 'operator']);
    const bob = await pages.open({ user: 'bob' });
    await pages.goToSession(bob.page, 'shell');
    await bob.page.getByText('You drive').waitFor();
    const ada = await pages.open({ user: 'ada', width: 390 });
    await pages.goToSession(ada.page, 'shell');
    const here = (page: Page) => page.getByRole('list', { name: 'Who else is here' });
    await here(ada.page).getByText('bob drives').waitFor();
    await here(bob.page).getByText('ada watches').waitFor();
    await ada.page.getByRole('button', { name: 'Drive' }).click();
    await ada.page.getByRole('button', { name: 'Take over' }).click();
    await here(bob.page).getByText('ada drives').waitFor();
    await here(ada.page).getByText('bob watches').waitFor();
    expect(await accessFaults(ada.page)).toEqual([]);
    // Who comes by the machine itself has no name here, and is counted all the same.
    const local = roost.terminal(['attach', 'shell', '--watch']);
    await here(bob.page).getByText('somebody at its machine').waitFor(RESTART);
    local.type('\x1cd');
    await ada.page.context().close();
    await here(bob.page).waitFor({ state: 'hidden' });
    expect([...bob.faults, ...ada.faults]).toEqual([]);
  });

  it('outlive a restart of the hub and of the node without being loaded again', async () => {
    const { page, faults } = await pages.open();
    await pages.goToSession(page, 'shell');
    await page.getByText('You drive').waitFor();
    await page.evaluate("window.isStillThisPage = 'yes'");
    await roost.ok(['hub', 'down']);
    await page.getByText('The line to the hub was lost').waitFor(RESTART);
    await roost.ok(['hub', 'up']);
    await page.getByText('The line to the hub was lost').waitFor({ state: 'hidden', ...RESTART });
    await waitFor('the page to drive again', () => page.getByText('You drive').isVisible(), {
      timeoutMs: RESTART.timeout,
      state: () => page.getByRole('main').innerText(),
    });
    await roost.ok(['down', '--no-start']);
    await roost.ok(['up']);
    await page.getByText('You drive').waitFor(RESTART);
    await page.locator('.xterm textarea').focus();
    await waitFor(
      'keys to arrive again',
      async () => {
        await page.keyboard.type('echo back-$((2 + 2))\r');
        return /^back-4$/m.test(await roost.screen('shell'));
      },
      { timeoutMs: 45_000, everyMs: 500 },
    );
    expect(await page.evaluate('window.isStillThisPage')).toBe('yes');
    expect(faults).toEqual([]);
  });

  it('show a conversation, and answer what its agent asks', async () => {
    await roost.ok(['run', '--detach', '--pipe', '--name', 'agent', 'qwen']);
    const { page, faults } = await pages.open();
    await pages.goToSession(page, 'agent');
    await page.getByRole('textbox', { name: 'Prompt' }).fill('ask execute');
    await page.getByRole('button', { name: 'Send' }).click();
    const asked = page.getByRole('region', { name: 'What it asks' });
    await asked.getByRole('button', { name: 'Once' }).waitFor();
    expect(await accessFaults(page)).toEqual([]);
    await asked.getByRole('button', { name: 'Once' }).click();
    await page.getByRole('log').getByText('told once').waitFor();
    await asked.waitFor({ state: 'hidden' });
    expect(faults).toEqual([]);
  });

  it('save a file, and overwrite nothing that was changed meanwhile', async () => {
    const { page, faults } = await pages.open();
    const file = join(roost.work, 'notes.txt');
    await pages.goToWorkspace(page, 'work');
    await page.getByText('notes.txt').click();
    const editor = page.getByLabel('Text of notes.txt');
    await editor.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('two');
    await page.getByRole('button', { name: 'Save' }).click();
    await waitFor('the file to be written', () => readFileSync(file, 'utf8') === 'one\ntwo');
    writeFileSync(file, 'theirs\n');
    await editor.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type(' mine');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Nothing was overwritten').waitFor();
    expect(readFileSync(file, 'utf8')).toBe('theirs\n');
    await page.getByRole('button', { name: 'Show what is different' }).click();
    expect(await accessFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Write mine over it' }).click();
    await waitFor('ours to be written', () => readFileSync(file, 'utf8') === 'one\ntwo mine');
    expect(faults).toEqual([]);
  });

  it('start a session by keys alone, also on a narrow screen', async () => {
    const { page, faults } = await pages.open({ width: 390 });
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog', { name: 'New session' });
    await dialog.getByRole('textbox', { name: 'Name' }).fill('from-the-page');
    expect(await accessFaults(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await dialog.getByText('from-the-page runs.').waitFor();
    await dialog.getByRole('button', { name: 'Open it' }).click();
    await page.getByRole('heading', { name: 'from-the-page', level: 1 }).waitFor();
    const overflow = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
    expect(overflow).toBeLessThanOrEqual(0);
    expect(faults).toEqual([]);
  });
});
