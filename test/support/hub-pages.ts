/** The pages of a hub in a real browser, logged in, and watched for what they must not do. */
import type { Browser, Page } from 'playwright-core';
import { openBrowser, watchPage } from './browser.ts';
import type { RoostHome } from './roost-home.ts';

export interface PageLook {
  readonly width?: number;
  readonly colorScheme?: 'light' | 'dark';
  /** The owner of the hub unless given. */
  readonly user?: string;
}

export interface OpenedPage {
  readonly page: Page;
  /** What it did wrong. */
  readonly faults: string[];
  /** The link that logged it in. */
  readonly login: string;
}

export class HubPages implements AsyncDisposable {
  readonly browser: Browser;
  readonly #roost: RoostHome;

  private constructor(roost: RoostHome, browser: Browser) {
    this.#roost = roost;
    this.browser = browser;
  }

  static async of(roost: RoostHome, chromium: string): Promise<HubPages> {
    return new HubPages(roost, await openBrowser(chromium, roost.root));
  }

  async open({ width = 1_280, colorScheme = 'light', user }: PageLook = {}): Promise<OpenedPage> {
    const words = ['hub', 'login', ...(user === undefined ? [] : [user])];
    const { url: login } = await this.#roost.json<{ url: string }>(words);
    const context = await this.browser.newContext({
      viewport: { width, height: 800 },
      colorScheme,
      // What moves into its place is waited for before it is clicked.
      reducedMotion: 'reduce',
    });
    const page = await context.newPage();
    const faults = watchPage(page, new URL(login).origin);
    await page.goto(login);
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    return { page, faults, login };
  }

  /** Shows what is at that address of an open page, without loading it again. */
  async go(page: Page, path: string, heading: string | RegExp): Promise<void> {
    await page.evaluate(`location.hash = ${JSON.stringify(path)}`);
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
  }

  async goToSession(page: Page, name: string): Promise<void> {
    const { id } = await this.#roost.session(name);
    await this.go(page, `/sessions/${id}`, name);
  }

  /** `nodeName`: needed where the hub has several. */
  async goToWorkspace(page: Page, workspaceId: string, nodeName?: string): Promise<void> {
    const nodes = await this.#roost.json<{ id: string; name: string }[]>(['node', 'ls']);
    const node = nodes.find(({ name }) => nodeName === undefined || name === nodeName);
    if (node === undefined) throw new Error(`no node ${nodeName ?? ''}`);
    await this.go(page, `/nodes/${node.id}/workspaces/${workspaceId}`, workspaceId);
  }

  /** A page that stays attached to a terminal would go on driving it. */
  async closeAll(): Promise<void> {
    for (const context of this.browser.contexts()) await context.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser.close();
  }
}
