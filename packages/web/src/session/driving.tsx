/** Who drives a terminal, and how that becomes another one: asked for, handed over, or taken. */
import { useEffect, useState } from 'react';
import { Button, Group } from '@mantine/core';
import type { SeenSession } from '@roost/client/browser';
import type { DriveAnswer } from '@roost/protocol';
import { useMay, useMe } from '../hub/hub-context.tsx';
import { askerName, isDriverless, otherWatchers } from './other-watchers.ts';
import type { Attached, Wish } from './terminal-session.ts';
import { useWatched, Watchers } from './watchers.tsx';
import styles from './terminal-pane.module.css';

/** Milliseconds after which it is no longer rude to take what was asked for. */
const ANSWER_MS = 15_000;

interface Acts {
  readonly onDrive: (wish: Wish) => void;
  readonly onWatch: () => void;
  readonly onAnswer: (answer: DriveAnswer) => void;
}

export function Driving({
  session,
  state,
  ...acts
}: Acts & { readonly session: SeenSession; readonly state: Attached }) {
  const mayDrive = useMay('operator');
  const { user } = useMe();
  const watched = useWatched(session);
  const terminal = watched === null ? null : { ...watched, ownRole: state.role, ownName: user };
  if (state.role === 'driver') {
    return (
      <>
        <Button size="compact-xs" variant="subtle" color="gray" onClick={acts.onWatch}>
          Only watch
        </Button>
        {state.asks.map(({ client, clientName }) => (
          <Asker
            key={client}
            name={askerName(clientName, terminal)}
            onAnswer={(handOver) => acts.onAnswer({ client, handOver })}
          />
        ))}
        {terminal !== null && <Watchers terminal={terminal} />}
      </>
    );
  }
  const driver =
    terminal === null ? undefined : otherWatchers(terminal).find(({ drives }) => drives === true);
  return (
    <>
      {mayDrive && terminal !== null && isDriverless(terminal) && (
        <Button size="compact-xs" variant="light" onClick={() => acts.onDrive('take-over')}>
          Drive
        </Button>
      )}
      {mayDrive && (terminal === null || !isDriverless(terminal)) && (
        <Contender asked={state.asked} driverName={driver?.name ?? 'whoever drives'} onDrive={acts.onDrive} />
      )}
      {terminal !== null && <Watchers terminal={terminal} />}
    </>
  );
}

function Asker({
  name,
  onAnswer,
}: {
  readonly name: string;
  readonly onAnswer: (handOver: boolean) => void;
}) {
  return (
    <Group
      gap={6}
      role="alert"
      className={styles.ask}
      // Whoever is asked is typing, and goes on.
      onMouseDown={(event) => event.preventDefault()}
    >
      {name} asks to drive
      <Button size="compact-xs" onClick={() => onAnswer(true)}>
        Hand over
      </Button>
      <Button size="compact-xs" variant="default" onClick={() => onAnswer(false)}>
        Keep
      </Button>
    </Group>
  );
}

/** One who would like to drive while another one does. */
function Contender({
  asked,
  driverName,
  onDrive,
}: {
  readonly asked: Attached['asked'];
  readonly driverName: string;
  readonly onDrive: Acts['onDrive'];
}) {
  const isLate = useIsLate(asked === 'waiting');
  return (
    <>
      {asked !== 'waiting' && (
        <Button size="compact-xs" variant="light" onClick={() => onDrive('ask')}>
          Ask to drive
        </Button>
      )}
      <span role="status" className={styles.asked}>
        {asked === 'waiting' && (isLate ? `no answer from ${driverName}` : `asked ${driverName}`)}
        {asked === 'kept' && `${driverName} goes on driving`}
      </span>
      <Button
        size="compact-xs"
        variant={isLate ? 'light' : 'subtle'}
        {...(isLate ? {} : { color: 'gray' })}
        onClick={() => onDrive('take-over')}
      >
        Take over
      </Button>
    </>
  );
}

function useIsLate(isWaiting: boolean): boolean {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setTimeout(() => setLate(true), ANSWER_MS);
    return () => {
      clearTimeout(timer);
      setLate(false);
    };
  }, [isWaiting]);
  return isLate;
}
