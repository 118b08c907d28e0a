/** Everything around the pages: style, data, address, and who is logged in. */
import { useEffect, useState } from 'react';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { Router, useRoute } from 'wouter';
import { useHashLocation } from 'wouter/use-hash-location';
import type { Hub } from './hub/hub.ts';
import { HubProvider, MeProvider, useHub, useMirror } from './hub/hub-context.tsx';
import { makeQueryClient, useHubQuery } from './hub/queries.ts';
import { HubAway, LoggingIn, LoginNeeded } from './login/login-page.tsx';
import { Shell } from './shell/shell.tsx';
import { theme } from './theme.ts';

export function App({ hub }: { readonly hub: Hub }) {
  const [queries] = useState(makeQueryClient);
  return (
    // Its variables are those of its style file; writing them into the page needs a style tag.
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      withCssVariables={false}
      withGlobalClasses={false}
    >
      <QueryClientProvider client={queries}>
        <HubProvider hub={hub}>
          <Router hook={useHashLocation}>
            <Gate />
          </Router>
          <Notifications position="bottom-right" />
        </HubProvider>
      </QueryClientProvider>
    </MantineProvider>
  );
}

function Gate() {
  const [, params] = useRoute('/login/:code');
  return params === null ? <Inside /> : <LoggingIn code={params.code} />;
}

function Inside() {
  const me = useHubQuery('me.show', {}, { staleTime: Infinity });
  if (me.data !== undefined) {
    return (
      <MeProvider me={me.data}>
        <Mirrored />
      </MeProvider>
    );
  }
  if (me.error?.failure.code === 'unauthenticated') return <LoginNeeded />;
  return <HubAway error={me.error} onRetry={() => void me.refetch()} />;
}

function Mirrored() {
  const { mirror } = useHub();
  const { line, error } = useMirror();
  useEffect(() => {
    const ending = new AbortController();
    void mirror.run(ending.signal);
    return () => ending.abort();
  }, [mirror]);
  return line === 'ended' && error?.failure.code === 'unauthenticated' ? <LoginNeeded /> : <Shell />;
}
