import type { ComposerRule } from '../composer-rule.ts';
import { bottom, type ScreenGate, type ScreenRule } from '../screen-rule.ts';

/** The composer: a line between two rules across the screen. Menus use the same glyph, and never stand between rules. */
const COMPOSER = /^─{20,}[^\n]*\n❯(?: |\u00a0|$)([^\n]*(?:\n[^─\n][^\n]*)*)\n─{20,}/m;

/** 2.1.197. */
export const CLAUDE_COMPOSER: ComposerRule = {
  // A menu of commands stands below it.
  in: bottom(18),
  sees: COMPOSER,
  placeholders: [/^Try "/],
};
/** A menu's footer; nothing stands below it. */
const MENU_FOOTER: ScreenGate = {
  in: { kind: 'bottom', lines: 3 },
  any: [/^\s*(?:Enter to confirm|Esc to cancel|Enter to select)\b/m],
};
const CHOICE = /^\s*❯\s*[0-9]\.\s/m;

/** Claude Code 2.1.197. */
export const CLAUDE_SCREEN: readonly ScreenRule[] = [
  {
    id: 'trust',
    state: 'blocked',
    reason: 'trust',
    gates: [MENU_FOOTER, { in: bottom(20), all: [CHOICE, /Yes, I trust this folder/] }],
  },
  {
    id: 'api-key',
    state: 'blocked',
    reason: 'api-key',
    gates: [MENU_FOOTER, { in: bottom(20), all: [CHOICE, /Do you want to use this API key\?/] }],
  },
  {
    id: 'bypass-warning',
    state: 'blocked',
    reason: 'onboarding',
    gates: [
      MENU_FOOTER,
      { in: bottom(14), all: [CHOICE, /WARNING: Claude Code running in Bypass Permissions mode/] },
    ],
  },
  {
    id: 'approval',
    state: 'blocked',
    reason: 'approval',
    gates: [
      MENU_FOOTER,
      { in: bottom(12), all: [CHOICE, /^\s*(?:Do you want|Would you like) [^\n]*\?\s*$/m] },
    ],
  },
  {
    id: 'question',
    state: 'blocked',
    reason: 'question',
    gates: [MENU_FOOTER, { in: bottom(24), all: [CHOICE] }],
  },
  {
    id: 'onboarding',
    state: 'blocked',
    reason: 'onboarding',
    gates: [
      {
        in: { kind: 'screen' },
        any: [
          /Choose the (?:text style|option that looks best)/,
          /Select login method:/,
          /Security notes:[^]*Enter to continue/,
          /Login successful[^]*Enter to continue/,
        ],
        none: [COMPOSER],
      },
    ],
  },
  {
    id: 'interruptible',
    state: 'working',
    gates: [
      { in: bottom(3), all: [/^\s*esc to interrupt/m] },
      { in: bottom(12), all: [COMPOSER] },
    ],
  },
  {
    id: 'login',
    state: 'blocked',
    reason: 'login',
    gates: [
      { in: bottom(6), all: [COMPOSER] },
      { in: bottom(3), all: [/ {2}Not logged in · Run \/login$/m] },
    ],
  },
  { id: 'title-working', state: 'working', gates: [{ in: { kind: 'title' }, all: [/^[\u2800-\u28ff] /] }] },
  {
    id: 'composer',
    state: 'composer',
    gates: [
      { in: CLAUDE_COMPOSER.in, all: [COMPOSER] },
      { in: bottom(3), none: [/^\s*esc to interrupt/m, /^Resume this session with:/m] },
    ],
  },
];
