/** What is done by the dialogs of the pages is done on the machines, and shown without asking for it. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hubRequest } from '@roost/client';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { browserPath } from '../support/browser.ts';
import { HubPages } from '../support/hub-pages.ts';
import { HubHome } from '../support/hub-home.ts';
import { makeRepository } from '../support/scratch-repository.ts';
import { putStandInAgent } from '../support/stand-in-agent.ts';
import { waitFor } from '../support/wait-for.ts';

const chromium = browserPath();

describe.skipIf(chromium === null)('the pages of a hub', () => {
  let roost: HubHome;
  let pages: HubPages;
  /** A repository whose worktrees are made by hand. */
  let other: string;

  beforeAll(async () => {
    roost = new HubHome();
    putStandInAgent(roost);
    mkdirSync(join(roost.root, 'trees'));
    other = join(roost.root, 'other');
    mkdirSync(other);
    for (const directory of [roost.work, other]) {
      writeFileSync(join(directory, '.gitignore'), 'received-*\n');
      makeRepository(directory);
    }
    const profiles = join(roost.home, 'profiles', 'worktree');
    mkdirSync(profiles, { recursive: true });
    const profile = { sourceWorkspace: 'work', targetRoot: join(roost.root, 'trees') };
    writeFileSync(join(profiles, 'trees.json'), JSON.stringify(profile));
    await roost.up();
    for (const directory of [roost.work, other]) await roost.ok(['workspace', 'add', directory]);
    await roost.ok(['hub', 'user', 'add', 'ada', '--role', 'admin']);
    pages = await HubPages.of(roost, chromium ?? '');
  });
  afterAll(async () => {
    await pages[Symbol.asyncDispose]();
    await roost[Symbol.asyncDispose]();
  });
  afterEach(() => pages.closeAll());

  const row = (page: Page, text: string | RegExp): Locator => page.getByRole('row').filter({ hasText: text });
  /** Presses a button that asks first, and says yes. */
  async function confirm(page: Page, button: Locator): Promise<void> {
    const label = (await button.textContent()) ?? '';
    await button.click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: label, exact: true }).click();
    await dialog.waitFor({ state: 'hidden' });
  }

  it('stop and remove a session, and rename, resume and forget its record', async () => {
    await roost.ok(['run', '--detach', '--pipe', '--name', 'talker', 'qwen']);
    await roost.ok(['ask', 'talker', 'say hello']);
    const { page, faults } = await pages.open();
    await pages.goToSession(page, 'talker');
    await confirm(page, page.getByRole('button', { name: 'Stop' }));
    await page.getByText('stopped', { exact: true }).waitFor();
    await pages.go(page, '/records', 'Records');
    await row(page, 'talker').getByText('can be resumed').waitFor();
    await row(page, 'talker').getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('speaker');
    await page.keyboard.press('Enter');
    await row(page, 'speaker').getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('heading', { name: 'speaker', level: 1 }).waitFor();
    await page.getByText('ready', { exact: true }).waitFor();
    const { id: resumed } = await roost.session('speaker');
    await confirm(page, page.getByRole('button', { name: 'Stop' }));
    await page.getByText('stopped', { exact: true }).waitFor();
    await confirm(page, page.getByRole('button', { name: 'Remove' }));
    await page.getByRole('heading', { name: 'Sessions', level: 1 }).waitFor();
    expect((await roost.sessions()).map(({ id }) => id)).not.toContain(resumed);
    await pages.go(page, '/records', 'Records');
    await confirm(page, row(page, 'speaker').getByRole('button', { name: 'Forget' }));
    await row(page, 'speaker').waitFor({ state: 'hidden' });
    const left = await roost.json<{ name: string }[]>(['records', 'ls']);
    expect(left.map(({ name }) => name)).not.toContain('speaker');
    expect(faults).toEqual([]);
  });

  it('make a managed worktree and take it away', async () => {
    const { page, faults } = await pages.open();
    await pages.go(page, '/worktrees', 'Worktrees');
    await page.getByText('No managed worktrees').waitFor();
    await page.getByRole('button', { name: 'New worktree' }).click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('fix');
    await page.getByRole('button', { name: 'Make it' }).click();
    await row(page, 'fix').getByText('ready').waitFor();
    const trees = join(roost.root, 'trees');
    const [id = ''] = readdirSync(trees);
    expect(id).toMatch(/^wt-/);
    await row(page, 'fix').getByText(id).waitFor();
    await row(page, 'fix').getByRole('link', { name: 'roost/fix' }).click();
    await page.getByRole('heading', { name: 'roost/fix', level: 1 }).waitFor();
    await page.getByText(id).waitFor();
    await pages.go(page, '/worktrees', 'Worktrees');
    await confirm(page, row(page, 'fix').getByRole('button', { name: 'Clean up' }));
    await page.getByText('No managed worktrees').or(row(page, 'fix').getByText('removed')).waitFor();
    expect(readdirSync(trees)).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('list a worktree that was made by hand, start a session in it, and remove it', async () => {
    const { page, faults } = await pages.open();
    const byHand = join(roost.root, 'by-hand');
    await pages.go(page, '/worktrees', 'Worktrees');
    await page.getByText('No managed worktrees').waitFor();
    execFileSync('git', ['-C', other, 'worktree', 'add', '--quiet', '-b', 'by-hand', byHand]);
    await row(page, 'by-hand').getByText('no workspace yet').waitFor();
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog', { name: 'New session' });
    await dialog.getByLabel('Workspace', { exact: true }).click();
    await page.getByRole('option', { name: /^other/ }).click();
    await dialog.getByLabel('Worktree', { exact: true }).click();
    await page.getByRole('option', { name: 'by-hand (made by hand)' }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('in-tree');
    await dialog.getByRole('button', { name: 'Start' }).click();
    await dialog.getByText('in-tree runs.').waitFor();
    expect((await roost.session('in-tree')).workspaceId).toBe('by-hand');
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await row(page, 'by-hand').getByRole('link', { name: 'in-tree' }).waitFor();
    await roost.ok(['stop', 'in-tree']);
    await roost.ok(['rm', 'in-tree']);
    await confirm(page, row(page, 'by-hand').getByRole('button', { name: 'Remove' }));
    await row(page, 'by-hand').waitFor({ state: 'hidden' });
    expect(existsSync(byHand)).toBe(false);
    expect(faults).toEqual([]);
  });

  it('make a token that works until it is revoked', async () => {
    const { page, faults } = await pages.open({ user: 'ada' });
    await pages.go(page, '/settings', 'Settings');
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Label' }).fill('nightly');
    await page.getByRole('button', { name: 'Make it' }).click();
    const token = await page.getByRole('textbox', { name: /shown this once/ }).inputValue();
    await page.getByRole('button', { name: 'I have it' }).click();
    const asHolder = { url: roost.url, token, fingerprint: null };
    expect(await hubRequest(asHolder, 'me.show', {})).toMatchObject({ user: 'ada' });
    await confirm(page, row(page, 'nightly').getByRole('button', { name: 'Revoke' }));
    await row(page, 'nightly').waitFor({ state: 'hidden' });
    await expect(hubRequest(asHolder, 'me.show', {})).rejects.toMatchObject({
      failure: { code: 'unauthenticated' },
    });
    expect(faults).toEqual([]);
  });

  it('invite a machine, and let a new user in', async () => {
    const { page, faults } = await pages.open();
    await pages.go(page, '/settings', 'Settings');
    await page.getByRole('button', { name: 'Invite a machine' }).click();
    await page.getByRole('textbox', { name: 'What it will be called' }).fill('mill');
    await page.getByRole('button', { name: 'Make a code' }).click();
    const command = await page.getByRole('textbox', { name: /^Run this/ }).inputValue();
    expect(command).toMatch(/^roost node join http:\/\/127\.0\.0\.1:\d+$/);
    expect(await page.getByRole('textbox', { name: /^It asks for this code/ }).inputValue()).toMatch(/^\S+$/);
    await page.getByRole('button', { name: 'Done' }).click();
    await row(page, 'mill').getByText('nobody yet').waitFor();
    await confirm(page, row(page, 'mill').getByRole('button', { name: 'Revoke' }));
    await row(page, 'mill').waitFor({ state: 'hidden' });

    await roost.ok(['hub', 'user', 'add', 'cleo', '--role', 'observer', '--node', 'local']);
    await page.getByRole('button', { name: 'New user' }).click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('bob');
    await page.getByRole('button', { name: 'Add' }).click();
    await row(page, 'cleo').getByRole('cell', { name: 'local', exact: true }).waitFor();
    await row(page, 'bob').getByRole('button', { name: 'Login link' }).click();
    const link = await page.getByRole('textbox', { name: /^For bob/ }).inputValue();
    const other = await (await pages.browser.newContext()).newPage();
    await other.goto(link);
    await other.getByRole('navigation', { name: 'Pages' }).waitFor();
    await row(page, 'bob').getByRole('button', { name: 'Shut out' }).click();
    await other.getByRole('heading', { name: 'Log in' }).waitFor({ timeout: 30_000 });
    expect(faults).toEqual([]);
  });

  it('show who did what, and only what is asked for', async () => {
    await roost.run('shell', ['bash', '--norc']);
    const { page, faults } = await pages.open({ user: 'ada' });
    await pages.goToSession(page, 'shell');
    await page.getByRole('button', { name: 'Interrupt' }).click();
    await pages.go(page, '/audit', 'Audit');
    const interrupts = row(page, 'session.interrupt');
    await interrupts.first().waitFor();
    await page.getByRole('textbox', { name: 'Who' }).fill('ada');
    await page.getByRole('textbox', { name: 'Operation' }).fill('session.interrupt');
    await waitFor('only those to be shown', async () => (await page.getByRole('row').count()) === 2, {
      state: () => page.getByRole('table').textContent(),
    });
    expect(await interrupts.textContent()).toContain('done');
    await page.getByRole('textbox', { name: 'Who' }).fill('nobody');
    await page.getByText('No line is like that').waitFor();
    expect(faults).toEqual([]);
  });
});
