import type { ComposerRule } from '../composer-rule.ts';
import { bottom, type ScreenRule } from '../screen-rule.ts';

const title = { kind: 'title' } as const;
/** A dialog is the last box on the screen; the row that Enter takes has a dot. */
const DIALOG_END = /^\s*╰─+╯$/m;
const CHOICE = /^\s*│ +● [0-9]\. /m;

/** 0.61.0. A star stands before the text when nothing is asked. */
export const GEMINI_COMPOSER: ComposerRule = {
  // A menu of commands may stand below it.
  in: bottom(24),
  sees: /^▄{10,}\n [>*] ([^\n]*\n(?:(?!▀)[^\n]*\n)*)▀{10,}/m,
  placeholders: [/^Type your message or @path\/to\/file$/],
};

/** Gemini CLI 0.61.0. Its title tells its state; that it is ready, it says over start-up dialogs, too. */
export const GEMINI_SCREEN: readonly ScreenRule[] = [
  {
    id: 'trust',
    state: 'blocked',
    reason: 'trust',
    gates: [
      { in: bottom(1), all: [DIALOG_END] },
      { in: bottom(8), all: [CHOICE, /● 1\. Trust folder|[0-9]\. Don't trust/] },
    ],
  },
  {
    id: 'api-key',
    state: 'blocked',
    reason: 'api-key',
    gates: [
      { in: bottom(1), all: [DIALOG_END] },
      { in: bottom(14), all: [/│ Please enter your Gemini API key\./, /\(Press Enter to submit/] },
    ],
  },
  {
    id: 'login',
    state: 'blocked',
    reason: 'login',
    gates: [
      { in: bottom(1), all: [DIALOG_END] },
      {
        in: bottom(24),
        all: [/\(Use Enter to select\)/, /Terms of Services and Privacy Notice for Gemini CLI/],
      },
    ],
  },
  {
    id: 'question',
    state: 'blocked',
    reason: 'question',
    gates: [
      { in: title, all: [/^✋/] },
      { in: bottom(2), all: [/^│ Enter to (?:select|submit)/m, DIALOG_END] },
    ],
  },
  { id: 'action-required', state: 'blocked', reason: 'approval', gates: [{ in: title, all: [/^✋/] }] },
  {
    id: 'spinner',
    state: 'working',
    gates: [
      { in: title, none: [/^◇/] },
      { in: bottom(10), all: [/^ [\u2800-\u28ff] [^\n]*\(esc to cancel, [0-9]+/m] },
    ],
  },
  { id: 'title-working', state: 'working', gates: [{ in: title, all: [/^✦/] }] },
  {
    id: 'composer',
    state: 'composer',
    gates: [
      { in: title, all: [/^◇/] },
      { in: GEMINI_COMPOSER.in, all: [GEMINI_COMPOSER.sees] },
      // It draws one before it asks whether to trust the folder: then nothing stands above it.
      { in: { kind: 'screen' }, none: [/^\s*(?:\? for shortcuts\s*)?─{10,}\n/] },
    ],
  },
];
