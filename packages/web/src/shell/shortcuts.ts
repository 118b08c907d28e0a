// Which keys do what, anywhere on the page: decided from the keys alone.
import { PAGES } from './pages.ts';

type ShortcutAction =
  | { readonly kind: 'go'; readonly path: string }
  | { readonly kind: 'palette' | 'launch' | 'help' | 'search' | 'content' };

export interface PressedKey {
  readonly key: string;
  readonly ctrl: boolean;
  readonly shift: boolean;
  readonly alt: boolean;
  /** A text is being written: single keys are its letters. */
  readonly isTyping: boolean;
  /** The keys go to a terminal: only what no program there wants is ours. */
  readonly isTerminal: boolean;
}

export interface ShortcutStep {
  readonly action: ShortcutAction | null;
  /** `g` was pressed and waits for the page. */
  readonly isPending: boolean;
}

const NOTHING: ShortcutStep = { action: null, isPending: false };

/** What one more key means after what was pressed before. */
export function pressKey(isPending: boolean, pressed: PressedKey): ShortcutStep {
  const { key, ctrl, shift, alt, isTyping, isTerminal } = pressed;
  if (key === 'F6') return { action: { kind: 'content' }, isPending: false };
  if (ctrl && !alt && key.toLowerCase() === 'k' && (shift || !isTerminal))
    return { action: { kind: 'palette' }, isPending: false };
  if (isTyping || isTerminal || ctrl || alt) return NOTHING;
  if (isPending) {
    const page = PAGES.find((one) => one.key === key);
    return page === undefined ? NOTHING : { action: { kind: 'go', path: page.path }, isPending: false };
  }
  switch (key) {
    case 'g':
      return { action: null, isPending: true };
    case 'n':
      return { action: { kind: 'launch' }, isPending: false };
    case '/':
      return { action: { kind: 'search' }, isPending: false };
    case '?':
      return { action: { kind: 'help' }, isPending: false };
    default:
      return NOTHING;
  }
}
