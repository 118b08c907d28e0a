import type { ComposerRule } from '../composer-rule.ts';
import { bottom, type ScreenRule } from '../screen-rule.ts';

/** Below a dialog; while it works, a time stands behind the words. */
const WAITS = /^ {2}[\u2800-\u28ff] [^\n]*\.\.\.$/m;
const COMPOSER = /^─{20,}\n[>*] ([^\n]*\n(?:(?!─)[^\n]*\n)*)─{20,}/m;
/** Beside or below it stands for how long it has worked; while the program starts, nothing does. Texts of the model are further right. */
const SPINNER = /^ {2}[\u2800-\u28ff] \S/m;
const WORKS = /^ {2}[\u2800-\u28ff] [^\n]*(?:· esc to cancel\)|(?:\n[^\n]*)?\((?:[0-9]+m )?[0-9]+s\b)/m;

/** 0.15.10. A star stands before the text when nothing is asked. */
export const QWEN_COMPOSER: ComposerRule = {
  in: bottom(24),
  sees: COMPOSER,
  placeholders: [/^Type your message or @path\/to\/file$/],
};

/** Qwen Code 0.15.10. Its title never changes. */
export const QWEN_SCREEN: readonly ScreenRule[] = [
  {
    id: 'question',
    state: 'blocked',
    reason: 'question',
    gates: [
      { in: bottom(1), all: [WAITS] },
      { in: bottom(6), all: [/│ (?:↑\/↓: Navigate|[^\n]*Enter: (?:Select|Submit))/] },
    ],
  },
  {
    id: 'approval',
    state: 'blocked',
    reason: 'approval',
    gates: [
      { in: bottom(1), all: [WAITS] },
      { in: bottom(14), all: [/│ › [0-9]\. /] },
    ],
  },
  {
    id: 'api-key',
    state: 'blocked',
    reason: 'api-key',
    gates: [{ in: bottom(24), all: [/│ Failed to login\. Message: Missing API key/], none: [COMPOSER] }],
  },
  {
    id: 'login',
    state: 'blocked',
    reason: 'login',
    gates: [
      {
        in: { kind: 'screen' },
        all: [/Select Authentication Method|How would you like to authenticate/i],
        none: [COMPOSER],
      },
    ],
  },
  { id: 'spinner', state: 'working', gates: [{ in: bottom(10), all: [WORKS, COMPOSER] }] },
  {
    id: 'composer',
    state: 'composer',
    gates: [
      { in: bottom(24), all: [COMPOSER] },
      { in: bottom(10), none: [SPINNER] },
    ],
  },
];
