/** Whose terminal can be asked whether it takes a prompt: what its screen shows is known, and where what somebody typed stands on it. */
import type { ProviderManifest } from './manifest.ts';

export type ReadableProvider = ProviderManifest & Required<Pick<ProviderManifest, 'screen' | 'composer'>>;

export function isReadable(provider: ProviderManifest | null): provider is ReadableProvider {
  return provider?.screen !== undefined && provider.composer !== undefined;
}
