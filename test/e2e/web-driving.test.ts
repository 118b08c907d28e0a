/** Who drives a terminal, from the pages of a hub and from the machine itself. */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { accessFaults, browserPath } from '../support/browser.ts';
import { HubPages } from '../support/hub-pages.ts';
import { RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

const chromium = browserPath();

describe.skipIf(chromium === null)('a terminal on the pages of a hub', () => {
  let roost: RoostHome;
  let pages: HubPages;

  beforeAll(async () => {
    roost = new RoostHome();
    await roost.ok(['up']);
    for (const user of ['ada', 'bob']) await roost.ok(['hub', 'user', 'add', user, '--role', 'operator']);
    await roost.run('shell', ['bash', '--norc']);
    pages = await HubPages.of(roost, chromium ?? '');
  });
  afterAll(async () => {
    await pages[Symbol.asyncDispose]();
    await roost[Symbol.asyncDispose]();
  });
  afterEach(() => pages.closeAll());

  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
  async function opened(user: string, role: string | RegExp, width = 1_280) {
    const { page, faults } = await pages.open({ user, width });
    await pages.goToSession(page, 'shell');
    await page.getByText(role).waitFor();
    return { page, faults };
  }
  /** The driver and one who watches. */
  async function two() {
    const [ada, bob] = [await opened('ada', 'You drive'), await opened('bob', /^Watching/)];
    return { ada: ada.page, bob: bob.page, faults: () => [...ada.faults, ...bob.faults] };
  }

  it('is asked for, kept, asked for again, and handed over', async () => {
    const { ada, bob, faults } = await two();
    await press(bob, 'Ask to drive');
    await ada.getByText('bob asks to drive').waitFor();
    expect(await accessFaults(ada)).toEqual([]);
    await press(ada, 'Keep');
    await bob.getByText('ada goes on driving').waitFor();
    await press(bob, 'Ask to drive');
    await press(ada, 'Hand over');
    await bob.getByText('You drive').waitFor();
    await ada.getByText(/^Watching/).waitFor();
    await bob.locator('.xterm textarea').focus();
    await bob.keyboard.type('echo handed-$((1 + 1))\r');
    await roost.screenShows('shell', /^handed-2$/m);
    expect(faults()).toEqual([]);
  });

  it('is taken when no answer comes', async () => {
    const { ada, bob, faults } = await two();
    await bob.clock.install();
    await press(bob, 'Ask to drive');
    await bob.getByText('asked ada').waitFor();
    await bob.clock.fastForward(15_000);
    await bob.getByText('no answer from ada').waitFor();
    await press(bob, 'Take over');
    await bob.getByText('You drive').waitFor();
    await ada.getByText('bob asks to drive').waitFor({ state: 'hidden' });
    expect(faults()).toEqual([]);
  });

  it('is driven from a narrow window by one press where nobody else drives, and taken by one where somebody does', async () => {
    const phone = await opened('ada', /^Watching/, 390);
    await press(phone.page, 'Drive');
    await phone.page.getByText('You drive').waitFor();
    const other = await opened('bob', /^Watching/, 390);
    await press(other.page, 'Take over');
    await other.page.getByText('You drive').waitFor();
    await phone.page.getByText(/^Watching/).waitFor();
    expect([...phone.faults, ...other.faults]).toEqual([]);
  });

  it('goes from the machine itself to a page and back, by two keys', async () => {
    const local = roost.terminal(['attach', 'shell']);
    await waitFor('the terminal to show something', async () => (await local.lines()).length > 0);
    const { page, faults } = await opened('bob', /^Watching/);
    const bells = () => local.raw.split('\x07').length - 1;
    const before = bells();
    await press(page, 'Ask to drive');
    await waitFor('the bell', () => Promise.resolve(bells() > before));
    local.type('\x1ch');
    await page.getByText('You drive').waitFor();
    local.type('\x1ca');
    await page.getByText('somebody at its machine asks to drive').waitFor();
    await press(page, 'Hand over');
    await page.getByText(/^Watching/).waitFor();
    local.type('echo back-$((2 + 1))\r');
    await roost.screenShows('shell', /^back-3$/m);
    local.type('\x1cd');
    expect(faults).toEqual([]);
  });
});
