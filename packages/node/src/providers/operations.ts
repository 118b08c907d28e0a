// The operations on providers.
import { FailureError, type ProviderDiscovery, type ProviderFinding } from '@roost/protocol';
import type { Handlers } from '../control/handlers.ts';
import type { Providers } from './providers.ts';

export function providerOperations(providers: Providers): Pick<Handlers, 'provider.list' | 'provider.check'> {
  return {
    'provider.list': ({ ask }) => providers.list(ask !== false),
    'provider.check': async ({ provider: id }) => {
      const provider = await providers.check(id);
      const commands = providers.commandsOf(id);
      if (provider?.discovery === undefined || commands === null) {
        throw new FailureError('unknown-provider', { provider: id });
      }
      return { provider, findings: findingsOf(provider.discovery, commands) };
    },
  };
}

/** What is to be done, the most important first; that all is well, when there is nothing. */
export function findingsOf(
  { state, path, fault, login }: ProviderDiscovery,
  { install, login: logIn }: { readonly install: string | null; readonly login: { command: string } | null },
): ProviderFinding[] {
  const loginCommand = logIn?.command ?? null;
  switch (state) {
    case 'not-found':
      return [{ code: 'not-found', level: 'fail', command: install }];
    case 'broken': {
      const command = fault === 'not-executable' && path !== null ? `chmod +x ${quoted(path)}` : install;
      return [{ code: 'broken', level: 'fail', command }];
    }
    case 'installed':
    case 'unverified-version':
    case 'probe-failed':
    case 'unknown': {
      const findings: ProviderFinding[] = [];
      if (state === 'unverified-version') {
        findings.push({ code: 'version-unverified', level: 'warn', command: null });
      }
      if (state === 'probe-failed') {
        findings.push({ code: 'version-unknown', level: 'warn', command: install });
      }
      if (login === 'no') findings.push({ code: 'not-logged-in', level: 'warn', command: loginCommand });
      if (login === 'unknown') findings.push({ code: 'login-unknown', level: 'ok', command: loginCommand });
      return findings.length > 0 ? findings : [{ code: 'ready', level: 'ok', command: null }];
    }
  }
}

/** As one word for a shell. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
