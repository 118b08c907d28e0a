import type { ComposerRule } from '../composer-rule.ts';
import { bottom, type ScreenRule } from '../screen-rule.ts';

/** The box of the composer ends in this edge, and nothing else does. */
const COMPOSER_EDGE = /^ *╹▀{10,}/m;

/** 1.18.33. The last line inside names agent and model. */
export const OPENCODE_COMPOSER: ComposerRule = {
  in: { kind: 'screen' },
  sees: /((?:^ *┃(?: {2}[^\n]*)?\n)+) *┃ {2}\S[^\n]*\n *╹▀{10,}/m,
  placeholders: [/^Ask anything… "/],
  edge: /^ *╹▀{10,}/,
};

/** OpenCode 1.18.33. Below the edge of its composer stands what it does. */
export const OPENCODE_SCREEN: readonly ScreenRule[] = [
  {
    id: 'approval',
    state: 'blocked',
    reason: 'approval',
    gates: [
      { in: bottom(5), all: [/^ *┃ {3}Allow once {3}Allow always {3}Reject/m], none: [COMPOSER_EDGE] },
      { in: bottom(40), all: [/^ *┃ +△ Permission required/m] },
    ],
  },
  {
    id: 'question',
    state: 'blocked',
    reason: 'question',
    gates: [
      {
        in: bottom(4),
        all: [/^ *┃ {2}[^\n]*enter (?:submit|confirm|toggle)/m, /esc dismiss/],
        none: [COMPOSER_EDGE],
      },
    ],
  },
  {
    id: 'working',
    state: 'working',
    gates: [
      {
        in: bottom(4),
        all: [COMPOSER_EDGE],
        any: [/^ *[⬝■]{2,} +esc (?:again to )?interrupt/m, /\[retrying in /],
      },
    ],
  },
  {
    id: 'composer',
    state: 'composer',
    gates: [{ in: bottom(5), all: [COMPOSER_EDGE], none: [/[⬝■]{2,}/, /\[retrying in /] }],
  },
];
