/** What is on a page stays where it is while the rest of it arrives. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { HubPages } from '../support/hub-pages.ts';
import { RoostHome } from '../support/roost-home.ts';
import { makeRepository } from '../support/scratch-repository.ts';
import { putStandInAgent } from '../support/stand-in-agent.ts';
import { waitFor } from '../support/wait-for.ts';

const chromium = browserPath();
/** What counts as good for people: the share of the window that moves, times how far. */
const SHIFT_MAX = 0.1;

interface Shift {
  readonly value: number;
  readonly moved: readonly string[];
}

/** Every shift since the page was loaded that no input had asked for. */
const SHIFTS = `(() => {
  const observer = new PerformanceObserver(() => undefined);
  observer.observe({ type: 'layout-shift', buffered: true });
  const told = ({ node, previousRect: from, currentRect: to }) =>
    (node?.className || node?.nodeName) + ' from ' + [from.x, from.y, from.width, from.height] +
    ' to ' + [to.x, to.y, to.width, to.height];
  return observer.takeRecords()
    .filter(({ hadRecentInput }) => !hadRecentInput)
    .map(({ value, sources }) => ({ value, moved: sources.map(told) }));
})()`;

const ARE_CARDS_SHOWN = `[...document.querySelectorAll('[data-session-card] > [aria-hidden]')]
  .filter((picture) => picture.getBoundingClientRect().top < innerHeight)
  .every((picture) => picture.hasAttribute('data-shown'))`;

describe.skipIf(chromium === null)('the first view of a page of a hub', () => {
  let roost: RoostHome;
  let pages: HubPages;

  beforeAll(async () => {
    roost = new RoostHome();
    putStandInAgent(roost);
    mkdirSync(join(roost.work, 'src'));
    for (const name of ['notes.txt', 'src/one.ts', 'src/two.ts'])
      writeFileSync(join(roost.work, name), 'one\n');
    makeRepository(roost.work);
    writeFileSync(join(roost.work, 'notes.txt'), 'two\n');
    await roost.ok(['up']);
    await roost.ok(['workspace', 'add', roost.work]);
    await roost.run('shell', ['bash', '--norc']);
    await roost.ok(['run', '--detach', '--pipe', '--name', 'agent', 'qwen']);
    await roost.ok(['prompt', 'agent', 'ask execute']);
    pages = await HubPages.of(roost, chromium ?? '');
  });
  afterAll(async () => {
    await pages[Symbol.asyncDispose]();
    await roost[Symbol.asyncDispose]();
  });
  afterEach(() => pages.closeAll());

  const cardsShown = async (page: Page): Promise<void> => {
    await page.getByRole('link', { name: /^shell/ }).waitFor();
    await waitFor('every card in sight to have its picture', () => page.evaluate<boolean>(ARE_CARDS_SHOWN));
  };
  const VIEWS: readonly {
    readonly name: string;
    readonly go: (page: Page) => Promise<void>;
    readonly shown: (page: Page) => Promise<unknown>;
  }[] = [
    { name: 'board', go: (page) => pages.go(page, '/', 'Sessions'), shown: cardsShown },
    {
      name: 'terminal',
      go: (page) => pages.goToSession(page, 'shell'),
      shown: (page) => page.getByText(/^(You drive|nobody drives)/).waitFor(),
    },
    {
      name: 'conversation',
      go: (page) => pages.goToSession(page, 'agent'),
      shown: (page) =>
        page.getByRole('region', { name: 'What it asks' }).getByRole('button').first().waitFor(),
    },
    {
      name: 'workspace',
      go: (page) => pages.goToWorkspace(page, 'work'),
      shown: (page) => page.getByText('notes.txt').waitFor(),
    },
  ];

  it.for([1_440, 390])('does not move what is there already, at %d pixels', async (width) => {
    const { page } = await pages.open({ width });
    for (const { name, go, shown } of VIEWS) {
      await go(page);
      await page.reload();
      await shown(page);
      await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'hidden' });
      const shifts = await page.evaluate<Shift[]>(SHIFTS);
      const sum = shifts.reduce((total, { value }) => total + value, 0);
      expect(sum, `${name}: ${JSON.stringify(shifts, null, 2)}`).toBeLessThan(SHIFT_MAX);
    }
  });
});
