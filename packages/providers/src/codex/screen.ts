import type { ComposerRule } from '../composer-rule.ts';
import { bottom, type ScreenRule } from '../screen-rule.ts';

const CHOICE = /^\s*›\s*[0-9]\.\s/m;

/** 0.171.0. */
export const CODEX_COMPOSER: ComposerRule = {
  in: bottom(12),
  // What was pasted may have several lines.
  sees: /^› (?![0-9]\. )([^\n]*(?:\n {2}\S[^\n]*)*?)\n {2}\S[^\n]* · (?:~|\/)/m,
  placeholders: [/^Ask Codex to do anything$/],
};

/** Codex 0.171.0. It draws its composer up to a second before a trust screen takes its place: real is the one above the line that names model and folder. */
export const CODEX_SCREEN: readonly ScreenRule[] = [
  {
    id: 'approval',
    state: 'blocked',
    reason: 'approval',
    gates: [
      { in: bottom(3), all: [/^\s*Press enter to confirm or esc to cancel/m] },
      { in: bottom(24), all: [CHOICE, /^\s*Would you like to [^\n]*\?/m] },
    ],
  },
  {
    id: 'trust',
    state: 'blocked',
    reason: 'trust',
    gates: [{ in: bottom(14), all: [CHOICE, /Trust this folder\?/] }],
  },
  {
    id: 'hooks',
    state: 'blocked',
    reason: 'hooks',
    gates: [{ in: bottom(14), all: [CHOICE, /Hooks need review/] }],
  },
  {
    id: 'update',
    state: 'blocked',
    reason: 'update',
    gates: [{ in: bottom(20), all: [CHOICE, /^\s*Update available ·/m] }],
  },
  {
    id: 'login',
    state: 'blocked',
    reason: 'login',
    gates: [
      {
        in: bottom(14),
        all: [/^> [0-9]\. /m, /^[> ] 1\. Sign in with ChatGPT/m, /^\s*Press enter to continue/m],
      },
    ],
  },
  {
    id: 'title-action',
    state: 'blocked',
    reason: 'approval',
    gates: [{ in: { kind: 'title' }, all: [/Action Required/] }],
  },
  {
    id: 'working',
    state: 'working',
    gates: [{ in: bottom(8), all: [/^\s*[•◦] \S[^\n]*\(\S+(?: \S+)* • esc to interrupt\)/m] }],
  },
  // While it writes its answer, only the title tells that it works: the composer is drawn as ever.
  { id: 'title-working', state: 'working', gates: [{ in: { kind: 'title' }, all: [/^[\u2800-\u28ff] /] }] },
  {
    id: 'composer',
    state: 'composer',
    gates: [{ in: CODEX_COMPOSER.in, all: [CODEX_COMPOSER.sees] }],
  },
];
