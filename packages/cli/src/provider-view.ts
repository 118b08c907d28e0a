/** What the command line says about providers. */
import type { ProviderDiscovery, ProviderFinding, ProviderReport } from '@roost/protocol';

type Fault = NonNullable<ProviderDiscovery['fault']>;

/** One word, or two. */
export const STATE_TEXT: Readonly<Record<ProviderDiscovery['state'], string>> = {
  installed: 'installed',
  'unverified-version': 'terminal only',
  'probe-failed': 'terminal only',
  broken: 'broken',
  'not-found': 'not found',
  unknown: 'not asked',
};

const FAULT_TEXT: Readonly<Record<Fault, string>> = {
  'not-executable': 'it may not be run',
  'target-gone': 'what it leads to is gone',
  endless: 'it leads back to itself',
  'not-started': 'it could not be started',
  'timed-out': 'it did not tell its version in time',
  'too-much-output': 'it prints without end when asked for its version',
  failed: 'it fails when asked for its version',
  'version-missing': 'it does not tell its version',
  'version-ambiguous': 'it tells more than one version',
  'version-unparseable': 'what it tells is no version of three numbers',
};

/** What a person should know about its state, in one sentence without a stop; null when all is well. */
export function stateNote({ state, fault, version, known }: ProviderDiscovery): string | null {
  switch (state) {
    case 'installed':
    case 'not-found':
    case 'unknown':
      return null;
    case 'broken':
      return fault === null ? 'it cannot be run' : FAULT_TEXT[fault];
    case 'probe-failed':
      return `${fault === null ? 'its version is unknown' : FAULT_TEXT[fault]}; it runs as a plain terminal`;
    case 'unverified-version': {
      const seen =
        known === null
          ? 'Roost has seen no version of it at work'
          : `${version ?? 'its version'} is not one that Roost has seen at work (${rangeText(known)})`;
      return `${seen}; it runs as a plain terminal`;
    }
  }
}

export function rangeText({ from, below }: NonNullable<ProviderDiscovery['known']>): string {
  return below === null ? `${from} and later` : `${from} to below ${below}`;
}

export function versionText({ version, versionFrom }: ProviderDiscovery): string {
  return version === null ? '-' : versionFrom === 'package' ? `${version} (by its package)` : version;
}

/** What a launch can rely on with one transport. */
export function transportText(facts: ProviderDiscovery['transports']['pty']): string {
  const features = [
    facts.identity === null ? null : 'own sessions',
    facts.resume ? 'resume' : null,
    facts.prompt ? 'prompts' : null,
  ].filter((one) => one !== null);
  if (features.length === 0) return 'plain';
  return `${features.join(', ')}${facts.verified ? '' : ' (unverified, not used)'}`;
}

/** A sentence and, behind it, the command that helps. */
export function findingText({ code, command }: ProviderFinding, provider: ProviderReport): string {
  const { discovery, displayName, id } = provider;
  const note = discovery === undefined ? null : stateNote(discovery);
  const path = discovery?.path ?? id;
  const sentences: Readonly<Record<ProviderFinding['code'], string>> = {
    ready: `${displayName} is ready; roost run ${id}   starts it`,
    'not-found': `${displayName} was not found in the PATH of the node nor where installers put it`,
    broken: `${path}: ${note ?? 'it cannot be run'}`,
    'version-unverified': note ?? 'its version is not one that Roost has seen at work',
    'version-unknown': `${path}: ${note ?? 'its version is unknown'}`,
    'not-logged-in': 'nobody has logged in',
    'login-unknown': 'whether somebody has logged in cannot be told from here',
  };
  return command === null ? sentences[code] : `${sentences[code]}; try: ${command}`;
}
