/** A live terminal. */
import { useEffect, useRef, useState } from 'react';
import { Button, Switch } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import type { SeenSession } from '@roost/client/browser';
import { useHub, useMay } from '../hub/hub-context.tsx';
import { failureSentence } from '../parts/failure-alert.tsx';
import type { Tone } from '../parts/session-words.ts';
import { Status } from '../parts/status.tsx';
import { Driving } from './driving.tsx';
import { TerminalSession, type TerminalState, type Wish } from './terminal-session.ts';
import { TerminalView } from './terminal-view.ts';
import styles from './terminal-pane.module.css';

/** Pixels of a window below which opening a session only watches it: driving would make it as narrow. */
const DRIVE_WIDTH_PX = 700;

/** Keys that touch keyboards lack, and what terminals send for them. */
const KEYS = [
  ['Esc', '\x1b'],
  ['Tab', '\t'],
  ['Ctrl-C', '\x03'],
  ['↑', '\x1b[A'],
  ['↓', '\x1b[B'],
  ['←', '\x1b[D'],
  ['→', '\x1b[C'],
  ['Enter', '\r'],
] as const;

export default function TerminalPane({ session }: { readonly session: SeenSession }) {
  const { lines } = useHub();
  const mayDrive = useMay('operator');
  const [way, setWay] = useState<{ readonly mode: 'drive' | 'watch'; readonly wish: Wish | null }>({
    mode: mayDrive && window.innerWidth >= DRIVE_WIDTH_PX ? 'drive' : 'watch',
    wish: null,
  });
  const { mode } = way;
  const [state, setState] = useState<TerminalState>({ kind: 'connecting' });
  const [isForReaders, setForReaders] = useLocalStorage({ key: 'roost.screen-reader', defaultValue: false });
  const [attempt, setAttempt] = useState(0);
  const pane = useRef<HTMLDivElement>(null);
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<TerminalView | null>(null);
  const terminal = useRef<TerminalSession | null>(null);
  const { id, nodeId, name } = session;

  useEffect(() => {
    if (place.current === null) return;
    const shown = new TerminalView(place.current, { label: `Terminal of ${name}` });
    view.current = shown;
    return () => {
      view.current = null;
      shown.dispose();
    };
  }, [name]);

  useEffect(() => {
    const shown = view.current;
    if (shown === null) return;
    const ending = new AbortController();
    const attached = new TerminalSession({
      lines,
      nodeId,
      sessionId: id,
      ...way,
      screen: shown,
      onState: (next) => {
        setState(next);
        if (next.kind === 'attached') shown.fix(next.role === 'driver' ? null : next.size);
      },
    });
    terminal.current = attached;
    void attached.run(ending.signal);
    return () => {
      terminal.current = null;
      ending.abort();
    };
  }, [lines, nodeId, id, name, way, attempt]);

  useEffect(() => {
    const shown = view.current;
    if (shown === null) return;
    shown.onInput((bytes) => terminal.current?.type(bytes));
    shown.onFit((size) => terminal.current?.resize(size));
  }, [name]);

  useEffect(() => {
    if (view.current !== null) view.current.isForScreenReaders = isForReaders;
  }, [isForReaders, name]);

  const role = state.kind === 'attached' ? state.role : null;
  const isFresh = useRef(true);
  const hasKeys = role === 'driver' || (role === 'watcher' && mode === 'drive');
  useEffect(() => {
    // What somebody types who does not see yet that another one drives is meant for the terminal, and for no shortcut.
    if (!hasKeys) return;
    const active = document.activeElement;
    // Whoever is busy elsewhere on the page is left there when the driver changes.
    if (isFresh.current || active === document.body || pane.current?.contains(active) === true)
      view.current?.focus();
    isFresh.current = false;
  }, [hasKeys, role]);

  const drive = (wish: Wish): void => {
    if (mode === 'drive') terminal.current?.drive(wish);
    else setWay({ mode: 'drive', wish });
  };
  return (
    <div className={styles.pane} ref={pane}>
      <div className={styles.bar}>
        <Status {...stateWord(state)} />
        {state.kind === 'attached' && (
          <Driving
            session={session}
            state={state}
            onDrive={drive}
            onWatch={() => setWay({ mode: 'watch', wish: null })}
            onAnswer={(answer) => terminal.current?.answerAsk(answer)}
          />
        )}
        {state.kind === 'refused' && (
          <Button size="compact-xs" variant="default" onClick={() => setAttempt(attempt + 1)}>
            Try again
          </Button>
        )}
        <span className={styles.tools}>
          <Switch
            size="xs"
            label="For screen readers"
            checked={isForReaders}
            onChange={(event) => setForReaders(event.currentTarget.checked)}
          />
        </span>
      </div>
      <div className={styles.place} ref={place} />
      {role === 'driver' && (
        <div className={styles.keys}>
          {KEYS.map(([label, text]) => (
            <Button
              key={label}
              size="xs"
              variant="default"
              // The keyboard of the phone stays up.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => view.current?.press(text)}
            >
              {label}
            </Button>
          ))}
        </div>
      )}
    </div>
  );
}

function stateWord(state: TerminalState): {
  readonly text: string;
  readonly tone: Tone;
  readonly isMoving?: boolean;
} {
  switch (state.kind) {
    case 'connecting':
      return { text: 'connecting', tone: 'busy', isMoving: true };
    case 'attached':
      return state.role === 'driver'
        ? { text: 'You drive', tone: 'ok' }
        : { text: `Watching, ${state.size.columns} × ${state.size.rows}`, tone: 'quiet' };
    case 'waiting':
      return { text: `${failureSentence(state.error)} Tried again.`, tone: 'wait', isMoving: true };
    case 'refused':
      return { text: failureSentence(state.error), tone: 'bad' };
    case 'ended':
      return { text: 'ended', tone: 'quiet' };
  }
}
