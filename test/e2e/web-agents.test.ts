/** A real agent, started, spoken with and answered in a browser. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  HOMES,
  startMockModelServer,
  type MockModelServer,
  type MockReply,
  type RecordedRequest,
} from '@roost/lab';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accessFaults, browserPath } from '../support/browser.ts';
import { HubPages } from '../support/hub-pages.ts';
import { INSTALL_MS, putOnPath } from '../support/real-cli.ts';
import { RoostHome } from '../support/roost-home.ts';
import { waitFor } from '../support/wait-for.ts';

const chromium = browserPath();
/** Milliseconds for what a real agent takes its time for. */
const PATIENT = { timeout: 60_000 };

describe.skipIf(chromium === null)('the pages of a hub', () => {
  let roost: RoostHome;
  let server: MockModelServer;
  let pages: HubPages;
  let made: string;

  beforeEach(async () => {
    roost = new RoostHome();
    made = join(roost.work, 'greeting.txt');
    server = await startMockModelServer({ reply });
    pages = await HubPages.of(roost, chromium ?? '');
  });
  afterEach(async () => {
    await pages[Symbol.asyncDispose]();
    await roost[Symbol.asyncDispose]();
    await server.close();
  });

  /** Writes a file when it is asked to, which needs a permission; what the CLI asks beside its prompts carries no tools. */
  function reply({ body, prompt }: RecordedRequest): MockReply {
    const { tools, messages } = body as { tools?: unknown[]; messages?: unknown[] };
    if (tools === undefined || tools.length === 0) return { kind: 'text', text: 'aside' };
    if (JSON.stringify(messages?.at(-1)).includes('"tool_result"'))
      return { kind: 'text', text: 'It is written.' };
    if (!prompt.includes('greet')) return { kind: 'text', text: 'Nothing to do.' };
    return {
      kind: 'tools',
      calls: [{ name: 'Write', input: { file_path: made, content: 'hello from the browser\n' } }],
    };
  }

  it(
    'start Claude Code, ask it for a file, allow that, and show what it did',
    { timeout: INSTALL_MS },
    async (context) => {
      await putOnPath('claude', roost, context);
      const home = join(roost.root, 'agent-home');
      mkdirSync(home);
      Object.assign(roost.environment, await HOMES.claude({ home, baseUrl: server.url }));
      await roost.ok(['up']);
      await roost.ok(['workspace', 'add', roost.work]);
      await roost.ok(['hub', 'user', 'add', 'ada', '--role', 'observer']);
      const { page, faults } = await pages.open();

      await page.getByRole('button', { name: 'New session' }).first().click();
      const dialog = page.getByRole('dialog', { name: 'New session' });
      await dialog.getByLabel('Provider', { exact: true }).click();
      await page.getByRole('option', { name: 'Claude Code' }).click();
      await dialog.getByText('Spoken with').click();
      await dialog.getByRole('textbox', { name: 'Name' }).fill('greeter');
      await dialog.getByRole('button', { name: 'Start' }).click();
      await dialog.getByText('greeter runs.').waitFor(PATIENT);
      await dialog.getByRole('button', { name: 'Open it' }).click();
      await page.getByText('ready', { exact: true }).waitFor(PATIENT);

      await page.getByRole('textbox', { name: 'Prompt' }).fill('greet me');
      await page.keyboard.press('Control+Enter');
      const asked = page.getByRole('region', { name: 'What it asks' });
      await asked.getByText('greeting.txt').first().waitFor(PATIENT);
      expect(existsSync(made)).toBe(false);
      expect(await accessFaults(page)).toEqual([]);

      const observer = await pages.open({ user: 'ada', width: 390 });
      await observer.page.getByRole('link', { name: /^greeter.*asks for approval/ }).click();
      await observer.page.getByText(/It waits for somebody who may answer/).waitFor();
      expect(await observer.page.getByRole('region', { name: 'What it asks' }).count()).toBe(0);

      await asked
        .getByRole('button', { name: /^(Allow|Yes)/ })
        .first()
        .click();
      await waitFor('the file to be made', () => existsSync(made), { timeoutMs: 30_000 });
      expect(readFileSync(made, 'utf8')).toBe('hello from the browser\n');
      await asked.waitFor({ state: 'hidden' });
      const log = page.getByRole('log');
      await log.getByText('It is written.').waitFor(PATIENT);
      await log.getByText('Write', { exact: true }).click();
      await log.getByText('+ hello from the browser').waitFor();
      // It is done, and was looked at.
      await page.getByText('idle', { exact: true }).waitFor(PATIENT);
      await observer.page.getByText(/It waits for somebody/).waitFor({ state: 'hidden', ...PATIENT });
      expect([...faults, ...observer.faults]).toEqual([]);
    },
  );
});
