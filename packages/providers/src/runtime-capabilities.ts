/** What a provider can be relied on for, derived from what its manifest knows. */
import type { RuntimeCapability, Transport } from '@roost/protocol';
import { RAW_TRANSPORT, type ProviderManifest } from './manifest.ts';

/** `provider`: null for a plain command. */
export function runtimeCapabilities(
  provider: ProviderManifest | null,
  transport: Transport,
): RuntimeCapability[] {
  const { identity, resume, prompt } = provider?.transports[transport] ?? RAW_TRANSPORT;
  const capabilities: RuntimeCapability[] = transport === 'pty' ? ['raw-pty-lifecycle'] : [];
  if (prompt !== null) capabilities.push('structured-prompt');
  if (identity !== null) capabilities.push('provider-session-identity');
  if (resume !== null) capabilities.push('semantic-resume');
  return capabilities;
}
