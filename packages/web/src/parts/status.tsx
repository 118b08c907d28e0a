import type { LinkState } from '@roost/protocol';
import { stateWords, type StateWords, type Tone } from './session-words.ts';
import styles from './status.module.css';

/** A word with a dot; the colour says nothing that the word does not. */
export function Status({
  text,
  tone,
  isMoving = false,
}: Pick<StateWords, 'text' | 'tone'> & { readonly isMoving?: boolean }) {
  return (
    <span className={`${styles.status} ${styles[tone]}`}>
      <span className={isMoving ? `${styles.dot} ${styles.pulse}` : styles.dot} />
      {text}
    </span>
  );
}

export function SessionStatusWord({ session }: { readonly session: Parameters<typeof stateWords>[0] }) {
  return <Status {...stateWords(session)} />;
}

const LINK_TONES: Readonly<Record<LinkState, Tone>> = {
  connecting: 'busy',
  online: 'ok',
  stale: 'wait',
  offline: 'bad',
  refused: 'bad',
};

export function LinkWord({ state }: { readonly state: LinkState }) {
  return <Status text={state} tone={LINK_TONES[state]} isMoving={state === 'connecting'} />;
}
