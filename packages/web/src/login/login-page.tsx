/** What whoever is not logged in sees. */
import { useEffect, useRef, type ReactNode } from 'react';
import { Button, Code, Loader, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import type { FailureError } from '@roost/protocol';
import { useHub } from '../hub/hub-context.tsx';
import { useAct } from '../hub/queries.ts';
import { FailureAlert } from '../parts/failure-alert.tsx';
import styles from './login-page.module.css';

function Card({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Roost`;
  }, [title]);
  return (
    <main className={styles.place}>
      <div className={styles.card}>
        <h1 className={styles.title}>{title}</h1>
        {children}
      </div>
    </main>
  );
}

function HowToLogIn() {
  return (
    <>
      <Text size="sm">
        Make a link on the machine of the hub and open it here. It is good for five minutes, and once.
      </Text>
      <Code block>roost hub login</Code>
      <Text size="sm" c="dimmed">
        Somebody who is logged in can make one for you too, in the settings.
      </Text>
    </>
  );
}

export function LoginNeeded() {
  return (
    <Card title="Log in">
      <HowToLogIn />
      <Button variant="default" onClick={() => location.reload()}>
        I have logged in elsewhere
      </Button>
    </Card>
  );
}

/** Redeems the code of a login link: once, whatever the page does meanwhile. */
export function LoggingIn({ code }: { readonly code: string }) {
  const { api, mirroring } = useHub();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const redeemed = useRef<string | null>(null);
  const redeeming = useAct(
    (given: string) => api.hub('logins.redeem', { code: given }),
    (me) => {
      queries.setQueryData(['hub', 'me.show', {}], me);
      mirroring.drop();
      navigate('/', { replace: true });
    },
  );
  const { mutate } = redeeming;
  useEffect(() => {
    if (redeemed.current === code) return;
    redeemed.current = code;
    mutate(code);
  }, [code, mutate]);
  if (redeeming.error === null) {
    return (
      <Card title="Logging in">
        <Loader size="sm" aria-label="Logging in" />
      </Card>
    );
  }
  return (
    <Card title="Log in">
      <FailureAlert error={redeeming.error} title="This link did not log you in" />
      <HowToLogIn />
      <Button variant="default" onClick={() => navigate('/', { replace: true })}>
        Go on without it
      </Button>
    </Card>
  );
}

/** The hub has not answered yet, or does not. */
export function HubAway({
  error,
  onRetry,
}: {
  readonly error: FailureError | null;
  readonly onRetry: () => void;
}) {
  if (error === null) {
    return (
      <main className={styles.place}>
        <Loader aria-label="Loading" />
      </main>
    );
  }
  return (
    <Card title="The hub does not answer">
      <FailureAlert error={error} title="Nothing could be read" onRetry={onRetry} />
    </Card>
  );
}
