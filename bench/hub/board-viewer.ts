/** The board of a hub in the browser of this machine, logged in; before each view it forgets what it has of the hub. */
import { hubRequest } from '@roost/client';
import { UserName } from '@roost/protocol';
import type { CDPSession, Page } from 'playwright-core';
import { browserPath, openBrowser } from '../../test/support/browser.ts';
import { percentile } from '../statistics.ts';
import type { Samples, Verdict } from '../result.ts';
import type { HubProcess } from './hub-process.ts';

const WIDTH = 1_440;
const HEIGHT = 900;
const PATIENCE_MS = 30_000;
const MOST_MS = 1_000;
const CARD = '[data-session-card]';
/** In the page: when the name on a card was painted for the first time, in milliseconds from the begin of the navigation. */
const WATCH =
  'globalThis.firstCardAt = new Promise((resolve) => {' +
  'new PerformanceObserver((list) => resolve(list.getEntries()[0].renderTime)).observe({ type: "element", buffered: true });' +
  `const adds = new MutationObserver(() => { const name = document.querySelector("${CARD} span span");` +
  'if (name !== null) { name.setAttribute("elementtiming", "card"); adds.disconnect(); } });' +
  'adds.observe(document, { childList: true, subtree: true }); });';

export interface BoardViews {
  readonly views: number;
  /** What the measured figure is called. */
  readonly name: string;
  /** A directory for the browser. */
  readonly home: string;
}

/** Adds nothing where the machine has no browser. */
export async function measureBoard(
  hub: HubProcess,
  { views, name, home }: BoardViews,
  samples: Samples,
): Promise<void> {
  const path = browserPath();
  if (path === null) return;
  const browser = await openBrowser(path, home);
  try {
    const context = await browser.newContext({ viewport: { width: WIDTH, height: HEIGHT } });
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await logIn(page, hub);
    await page.addInitScript(WATCH);
    const took: number[] = [];
    for (let view = 0; view < views; view += 1) took.push(await firstView(page, session, hub.url));
    samples.add(`${name}, p50`, 'ms', 'roost', percentile(took, 0.5));
    samples.add(`${name}, worst`, 'ms', 'roost', percentile(took, 1));
  } finally {
    await browser.close();
  }
}

export function judgeBoard(samples: Samples, name: string): Verdict {
  const target = `${name}, p50: less than ${MOST_MS} ms`;
  const [usual] = samples.of(`${name}, p50`, 'roost') ?? [];
  if (usual === undefined) return { target, measured: 'not measured', met: null };
  return { target, measured: `${usual.toFixed(0)} ms`, met: usual < MOST_MS };
}

async function logIn(page: Page, hub: HubProcess): Promise<void> {
  await hub.user('admin');
  const { url } = await hubRequest(hub.owner, 'logins.create', { user: UserName.parse('admin') });
  await page.goto(url);
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
}

/** Nothing else is asked of the page meanwhile: looking for something there takes its time. */
async function firstView(page: Page, session: CDPSession, url: string): Promise<number> {
  await page.goto('about:blank');
  await session.send('Network.clearBrowserCache');
  await page.goto(url);
  const { result } = await session.send('Runtime.evaluate', {
    expression: `Promise.race([globalThis.firstCardAt, new Promise((_, reject) => setTimeout(reject, ${PATIENCE_MS}))])`,
    awaitPromise: true,
  });
  if (typeof result.value !== 'number') throw new Error('no card was painted');
  return result.value;
}
