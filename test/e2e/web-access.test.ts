/** Every page of the hub can be used by everybody: whatever the width and the colours, and whatever one's role. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { accessFaults, browserPath } from '../support/browser.ts';
import { FULL_ATTACK } from '../support/counts.ts';
import { HubPages, type PageLook } from '../support/hub-pages.ts';
import { RoostHome } from '../support/roost-home.ts';
import { makeRepository } from '../support/scratch-repository.ts';
import { putStandInAgent } from '../support/stand-in-agent.ts';

const chromium = browserPath();

/** Both widths and both schemes of colours; every pair of them on demand. */
const LOOKS: readonly Required<Omit<PageLook, 'user'>>[] = [
  { width: 1_440, colorScheme: 'dark' },
  { width: 390, colorScheme: 'light' },
  ...(FULL_ATTACK
    ? ([
        { width: 1_440, colorScheme: 'light' },
        { width: 390, colorScheme: 'dark' },
      ] as const)
    : []),
];

describe.skipIf(chromium === null)('the pages of a hub', () => {
  let roost: RoostHome;
  let pages: HubPages;

  beforeAll(async () => {
    roost = new RoostHome();
    putStandInAgent(roost);
    const notes = (text: string) => writeFileSync(join(roost.work, 'notes.txt'), text);
    notes('one\ntwo\nthree\n');
    makeRepository(roost.work);
    notes('one\n2\nthree\nfour\n');
    await roost.ok(['up']);
    await roost.ok(['workspace', 'add', roost.work]);
    await roost.run('shell', ['bash', '--norc']);
    await roost.ok(['run', '--detach', '--pipe', '--name', 'agent', 'qwen']);
    await roost.ok(['prompt', 'agent', 'ask execute']);
    await roost.ok(['hub', 'user', 'add', 'ada', '--role', 'observer']);
    await roost.ok(['hub', 'user', 'add', 'bob', '--role', 'operator']);
    pages = await HubPages.of(roost, chromium ?? '');
  });
  afterAll(async () => {
    await pages[Symbol.asyncDispose]();
    await roost[Symbol.asyncDispose]();
  });
  afterEach(() => pages.closeAll());

  /** Shown in full, it has no serious fault and is no wider than the window. */
  async function isGood(page: Page, what: string): Promise<void> {
    await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'hidden' });
    expect(await accessFaults(page), what).toEqual([]);
    expect(
      await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
      what,
    ).toBeLessThanOrEqual(0);
  }

  it.for(LOOKS)('have no serious fault for axe at $width pixels, $colorScheme', async (look) => {
    const { page, faults } = await pages.open(look);
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    await page.getByRole('link', { name: /^agent.*asks for approval/ }).waitFor();
    for (const link of await links.all()) {
      const [label = ''] = /^[A-Z][a-z]+/.exec((await link.textContent()) ?? '') ?? [];
      await link.click();
      await page.getByRole('heading', { name: label, level: 1 }).waitFor();
      await isGood(page, label);
    }
    await pages.goToSession(page, 'agent');
    await page.getByRole('region', { name: 'What it asks' }).getByRole('button', { name: 'Once' }).waitFor();
    await isGood(page, 'a conversation');
    await pages.goToSession(page, 'shell');
    await page.getByText(/^(You drive|Watching)/).waitFor();
    await isGood(page, 'a terminal');
    await page.getByText('Changes', { exact: true }).click();
    await page.getByText('Nothing is different').or(page.getByText('four')).first().waitFor();
    await isGood(page, 'what a session changed');
    await pages.goToWorkspace(page, 'work');
    await page.getByText('notes.txt').click();
    await page.getByLabel('Text of notes.txt').waitFor();
    await isGood(page, 'a file');
    await page.getByText('Changes', { exact: true }).click();
    const differences = page.getByRole('region', { name: 'Differences of notes.txt' });
    await differences.getByText('four').waitFor();
    expect(await differences.getByText('two').isVisible()).toBe(true);
    await isGood(page, 'differences');
    if (look.width > 1_000) {
      await page.getByText('Unified', { exact: true }).click();
      await isGood(page, 'differences in one column');
      await page.getByText('Side by side', { exact: true }).click();
    }
    await page.getByText('History', { exact: true }).click();
    await page.getByRole('button', { name: /Begin/ }).click();
    await page.getByText('three').waitFor();
    await isGood(page, 'the history');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await isGood(page, 'the keys');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.keyboard.press('Control+k');
    await page.getByRole('textbox', { name: 'Go to' }).fill('sh');
    await isGood(page, 'the palette');
    await page.keyboard.press('Escape');
    expect(faults).toEqual([]);
  });

  it('show an observer what happens, take nothing from them, and say so', async () => {
    const { page, faults } = await pages.open({ user: 'ada' });
    await page.getByRole('link', { name: /^shell/ }).waitFor();
    expect(await page.getByRole('button', { name: 'New session' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Audit' }).count()).toBe(0);
    await pages.goToSession(page, 'shell');
    await page.getByText(/^Watching/).waitFor();
    await page.getByText(/Your role is observer/).waitFor();
    for (const name of ['Drive', 'Take over', 'Stop', 'Interrupt'])
      expect(await page.getByRole('button', { name, exact: true }).count(), name).toBe(0);
    await page.locator('.xterm').click();
    await page.keyboard.type('echo never-$((1 + 1))\r');
    // Somebody who may drives on, and the observer sees it.
    const bob = await pages.open({ user: 'bob' });
    await pages.goToSession(bob.page, 'shell');
    await bob.page.getByText('You drive').waitFor();
    await bob.page.keyboard.type('echo seen-$((1 + 1))\r');
    expect(await roost.screenShows('shell', /^seen-2$/m)).not.toContain('never');
    // The letters may be drawn by the graphics card; readers of screens get them as text.
    await page.getByRole('switch', { name: 'For screen readers' }).click();
    await page.locator('.xterm').getByText('seen-2').first().waitFor();
    await page.getByRole('list', { name: 'Who else is here' }).getByText('bob drives').waitFor();
    await pages.goToSession(page, 'agent');
    await page.getByText(/It waits for somebody who may answer/).waitFor();
    expect(await page.getByRole('button', { name: 'Once' }).count()).toBe(0);
    expect(await page.getByRole('textbox', { name: 'Prompt' }).count()).toBe(0);
    await pages.goToWorkspace(page, 'work');
    await page.getByText('notes.txt').waitFor();
    expect(faults).toEqual([]);
  });
});
