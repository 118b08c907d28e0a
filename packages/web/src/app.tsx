/** Everything around the pages: style, data, address, and who is logged in. */
import { useLayoutEffect } from 'react';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider, type QueryClient } from '@tanstack/react-query';
import { Router, useRoute } from 'wouter';
import { useHashLocation } from 'wouter/use-hash-location';
import type { MirrorState } from '@roost/client/browser';
import type { Hub } from './hub/hub.ts';
import { HubProvider, MeProvider, useHub, useMirror } from './hub/hub-context.tsx';
import { useHubQuery } from './hub/queries.ts';
import { HubAway, LoggingIn, LoginNeeded } from './login/login-page.tsx';
import { Shell } from './shell/shell.tsx';
import { theme } from './theme.ts';

export function App({ hub, queries }: { readonly hub: Hub; readonly queries: QueryClient }) {
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
  const me = useHubQuery('me.show', {}, { staleTime: Infinity, retryOnMount: false });
  const { line, error } = useRunningMirror();
  const isUnknown = me.error?.failure.code === 'unauthenticated';
  const isNoLonger = line === 'ended' && error?.failure.code === 'unauthenticated';
  if (isUnknown || isNoLonger) return <LoginNeeded />;
  if (me.data === undefined) return <HubAway error={me.error} onRetry={() => void me.refetch()} />;
  return (
    <MeProvider me={me.data}>
      <Shell />
    </MeProvider>
  );
}

/** It begins at once, not when it is known who asks: what is shown first waits for it. */
function useRunningMirror(): MirrorState {
  const { mirroring } = useHub();
  // Before anything of an earlier run is shown.
  useLayoutEffect(() => mirroring.take(), [mirroring]);
  return useMirror();
}
