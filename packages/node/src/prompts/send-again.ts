// An Enter that does not send what was pasted: it takes a completion, breaks the line, or comes so near to the paste, in a busy program,
// that it counts as part of it (seen with Claude Code 2.1.197). It is pressed again, while exactly that text stands in the composer.
import { setTimeout as delay } from 'node:timers/promises';
import type { SessionId } from '@roost/protocol';
import { readComposer, readScreen, type ReadableProvider } from '@roost/providers';
import type { KeeperLink } from '../keepers/keeper-link.ts';
import { nextFrame } from '../keepers/next-frame.ts';
import { isSamePrompt } from './prompt-turn.ts';

/** Milliseconds that an Enter gets to show what it does. */
const PRESSED_MS = 2_000;
const PRESSES_MAX = 2;

/** Until `isOver`. @throws FailureError: those of input. */
export async function sendAgain(
  sessionId: SessionId,
  { provider, link }: { readonly provider: ReadableProvider; readonly link: KeeperLink },
  text: string,
  isOver: () => boolean,
): Promise<void> {
  for (let presses = 0; presses < PRESSES_MAX; presses += 1) {
    await delay(PRESSED_MS, undefined, { ref: false });
    if (isOver()) return;
    const frame = await nextFrame(link, sessionId, -1);
    if (frame === null || frame.ended || isOver() || !isUnsent(provider, frame, text)) return;
    await link.call('input', { sessionId, text: '\r', framing: 'raw', submit: false }, null);
  }
}

/** Whether that text, and no other, stands in a composer that waits. */
export function isUnsent(
  { screen, composer }: ReadableProvider,
  view: { readonly lines: readonly string[]; readonly title: string | null },
  text: string,
): boolean {
  if (readScreen(screen, view)?.state !== 'composer') return false;
  const typed = readComposer(composer, view) ?? '';
  return typed !== '' && isSamePrompt(typed, text);
}
