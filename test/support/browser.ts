/** A browser for the pages of a hub: the Chromium of this machine, without a display. */
import { execFileSync } from 'node:child_process';
import axe from 'axe-core';
import { chromium, type Browser, type Page } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** null: this machine has none. */
export function browserPath(): string | null {
  if (process.env.ROOST_CHROMIUM !== undefined) return process.env.ROOST_CHROMIUM;
  for (const name of NAMES) {
    try {
      return execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
    } catch {
      // The next.
    }
  }
  return null;
}

/** `home`: for what a browser keeps beside its profile, which goes with it. */
export function openBrowser(path: string, home: string): Promise<Browser> {
  return chromium.launch({
    executablePath: path,
    // Whoever runs the tests as root has no sandbox to offer; the pages are our own.
    args: ['--no-sandbox', '--disable-gpu'],
    env: { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR, LANG: process.env.LANG, HOME: home },
  });
}

/** What a page did that it must not: requests to elsewhere, breaches of its policy, faults of its own. */
export function watchPage(page: Page, origin: string): string[] {
  const faults: string[] = [];
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !url.startsWith('data:') && !url.startsWith('blob:'))
      faults.push(`asked ${url}`);
  });
  page.on('pageerror', (error) => faults.push(`threw ${error.message}`));
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) faults.push(message.text());
  });
  return faults;
}

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}

/** Serious faults of access that axe finds on what is shown, as `id: where`. */
export async function accessFaults(page: Page): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe.source);
  const violations = await page.evaluate<Violation[]>(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)",
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}
