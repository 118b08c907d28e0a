/** What is left of a provider whose version nobody has seen at work: a terminal, and what a caller asks for by name. */
import { RAW_TRANSPORT, type ProviderManifest } from './manifest.ts';

/** `older`: than everything known. What was added to each launch for newer ones would be refused by it. */
export function asRawTerminal(
  provider: ProviderManifest,
  { older }: { readonly older: boolean },
): ProviderManifest {
  // What it would report is as unknown as the option that makes it report.
  const { hooks: _, ...rest } = provider;
  return {
    ...rest,
    leadingArguments: older ? [] : provider.leadingArguments,
    transports: { pty: RAW_TRANSPORT, pipe: RAW_TRANSPORT },
  };
}
