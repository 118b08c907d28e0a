import { useEffect, useRef } from 'react';
import { pressKey } from './shortcuts.ts';

export interface ShortcutEffects {
  readonly navigate: (path: string) => void;
  readonly openPalette: () => void;
  readonly openLaunch: () => void;
  readonly openHelp: () => void;
}

/** Milliseconds for which `g` waits for the page. */
const PENDING_MS = 1_500;

export function useShortcuts(effects: ShortcutEffects): void {
  const latest = useRef(effects);
  useEffect(() => {
    latest.current = effects;
  });
  useEffect(() => {
    let pendingUntil = 0;
    const onKey = (event: KeyboardEvent): void => {
      if (event.isComposing) return;
      const target = event.target instanceof Element ? event.target : null;
      const isTerminal = isWithin(target, '.xterm');
      const isTyping =
        !isTerminal && isWithin(target, 'input, textarea, select, [contenteditable="true"], [data-editor]');
      // A dialog has keys of its own.
      if (isWithin(target, '[role="dialog"]')) return;
      const { action, isPending } = pressKey(event.timeStamp < pendingUntil, {
        key: event.key,
        ctrl: event.ctrlKey || event.metaKey,
        shift: event.shiftKey,
        alt: event.altKey,
        isTyping,
        isTerminal,
      });
      pendingUntil = isPending ? event.timeStamp + PENDING_MS : 0;
      if (action === null) return;
      event.preventDefault();
      event.stopPropagation();
      switch (action.kind) {
        case 'go':
          latest.current.navigate(action.path);
          return;
        case 'palette':
          latest.current.openPalette();
          return;
        case 'launch':
          latest.current.openLaunch();
          return;
        case 'help':
          latest.current.openHelp();
          return;
        case 'search':
          document.querySelector<HTMLInputElement>('[data-search]')?.focus();
          return;
        case 'content':
          document.getElementById('main')?.focus();
      }
    };
    // Before a terminal takes it.
    window.addEventListener('keydown', onKey, { capture: true });
    return () => window.removeEventListener('keydown', onKey, { capture: true });
  }, []);
}

function isWithin(target: Element | null, selector: string): boolean {
  return target !== null && target.closest(selector) !== null;
}
