// Answers the questions of a real CLI's first start until its composer waits for a prompt. The screens are data; the
// driver sees only text and sends only keys, so it works on a bare PTY and through a session alike.
import { setTimeout as delay } from 'node:timers/promises';
import type { TerminalCliName } from './versions.ts';

interface FirstRunScreen {
  name: string;
  sees: RegExp;
  /** What the screen waits for, in the words of a session's state. */
  reason: 'trust' | 'api-key' | 'onboarding' | 'update' | 'hooks';
  /** Sent one after the other. */
  keys: readonly string[];
}

interface FirstRun {
  /** The first match is answered. */
  screens: readonly FirstRunScreen[];
  idle: RegExp;
}

const ENTER = '\r';

/**
 * Seen with Claude Code 2.1.197 and Codex 0.171.0, but for those marked: they come only in a home without the preparation
 * of `homes.ts`, or from other versions.
 */
export const FIRST_RUNS: Readonly<Record<TerminalCliName, FirstRun>> = {
  claude: {
    screens: [
      // Marked: onboarding.
      {
        name: 'theme',
        reason: 'onboarding',
        sees: /Choose the (text style|option that looks best)/,
        keys: [ENTER],
      },
      {
        name: 'login-notice',
        reason: 'onboarding',
        sees: /Login successful[^]*Enter to continue/,
        keys: [ENTER],
      },
      {
        name: 'security-notes',
        reason: 'onboarding',
        sees: /Security notes:[^]*Enter to continue/,
        keys: [ENTER],
      },
      { name: 'trust-folder', reason: 'trust', sees: /❯ 1\. Yes, I trust this folder/, keys: [ENTER] },
      // The row of "No" is selected; a digit chooses and confirms.
      {
        name: 'api-key',
        reason: 'api-key',
        sees: /Do you want to use this API key\?[^]*1\. Yes/,
        keys: ['1'],
      },
      {
        name: 'bypass-warning',
        reason: 'onboarding',
        sees: /Bypass Permissions mode[^]*2\. Yes, I accept/,
        keys: ['2'],
      },
    ],
    // The composer is a line between two rules; menus use the same glyph, never between rules.
    idle: /^─{20,}[^\n]*\n❯[^\n]*\n─{20,}/m,
  },
  codex: {
    screens: [
      // Only in a git repository.
      {
        name: 'trust-folder',
        reason: 'trust',
        sees: /Trust this folder\?[^]*› 1\. Trust and continue/,
        keys: [ENTER],
      },
      // Marked. A digit only moves the selection; Enter confirms.
      { name: 'update-notice', reason: 'update', sees: /Update available[^]*2\. Skip/, keys: ['2', ENTER] },
      {
        name: 'hooks-review',
        reason: 'hooks',
        sees: /Hooks need review[^]*3\. Continue without trusting/,
        keys: ['3', ENTER],
      },
    ],
    // The composer is drawn up to a second before the trust screen takes its place, and takes no prompt then. It is real
    // once the line with model and folder stands below it.
    idle: /^› (?![0-9]\. )[^\n]*\n\s*\S[^\n]* · \S/m,
  },
  gemini: {
    screens: [
      // It restarts itself after the answer. The digit chooses and confirms.
      {
        name: 'trust-folder',
        reason: 'trust',
        sees: /Do you trust the files in this folder\?[^]*1\. Trust folder/,
        keys: ['1'],
      },
    ],
    idle: /Type your message or @path\/to\/file/,
  },
  opencode: {
    screens: [],
    // The start page; the composer below a conversation has no such text.
    idle: /Ask anything/,
  },
  qwen: {
    screens: [],
    idle: /Type your message or @path\/to\/file/,
  },
};

export interface FirstRunOptions {
  /** The visible screen as lines of text. */
  readScreen: () => Promise<string>;
  sendKeys: (bytes: string) => Promise<void> | void;
  deadlineMs?: number;
}

export interface FirstRunPassed {
  /** In the order in which they came, with the time since the call. */
  screens: { name: string; afterMs: number }[];
  idleAfterMs: number;
}

const POLL_MS = 50;
/** A screen must be there this many reads in a row: a half-drawn menu does not take keys yet. */
const STEADY_READS = 3;
/** A key that changed nothing in this time was lost and is sent again. */
const RETRY_MS = 2000;

/** Throws at the deadline with the screen as it was. */
export async function passFirstRunScreens(
  cli: TerminalCliName,
  { readScreen, sendKeys, deadlineMs = 30_000 }: FirstRunOptions,
): Promise<FirstRunPassed> {
  const { screens, idle } = FIRST_RUNS[cli];
  const startedAt = performance.now();
  const passed: FirstRunPassed['screens'] = [];
  let last = '';
  let steady = 0;
  let answeredAt = 0;
  for (;;) {
    const text = await readScreen();
    const now = performance.now() - startedAt;
    const screen = screens.find(({ sees }) => sees.test(text));
    const state = screen?.name ?? (idle.test(text) ? 'idle' : 'starting');
    if (state !== last) answeredAt = 0;
    steady = state === last ? steady + 1 : 1;
    last = state;
    if (steady >= STEADY_READS && state === 'idle') return { screens: passed, idleAfterMs: Math.round(now) };
    if (steady >= STEADY_READS && screen !== undefined && (answeredAt === 0 || now - answeredAt > RETRY_MS)) {
      if (answeredAt === 0) passed.push({ name: screen.name, afterMs: Math.round(now) });
      for (const key of screen.keys) {
        await sendKeys(key);
        await delay(POLL_MS);
      }
      answeredAt = performance.now() - startedAt;
    }
    if (now > deadlineMs)
      throw new Error(
        `${cli} is not ready after ${deadlineMs} ms (${state}); answered: ${passed.map(({ name }) => name).join(', ')}; the screen:\n${text}`,
      );
    await delay(POLL_MS);
  }
}
