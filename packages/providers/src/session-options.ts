/** From session options to the arguments of one provider. What a provider has no way to say is refused, never left out. */
import { failure, type Failure, type SessionOptions, type Transport } from '@roost/protocol';
import { structuredOf } from './launch.ts';
import { filled, isSaid } from './command-line.ts';
import type { ProviderManifest, ProviderOption } from './manifest.ts';

export type OptionOutcome = { readonly arguments: readonly string[] } | { readonly failure: Failure };

/**
 * The caller's arguments with those of the options in front of them. An option that the arguments say themselves is theirs.
 * Fails with session-option-unsupported.
 */
export function planOptions(
  provider: Pick<ProviderManifest, 'id' | 'options' | 'transports' | 'structured'>,
  transport: Transport,
  options: SessionOptions,
  given: readonly string[],
): OptionOutcome {
  const known = structuredOf(provider, transport)?.options ?? provider.options;
  const planned: string[] = [];
  for (const [name, wanted] of Object.entries(options) as [keyof SessionOptions, string | string[]][]) {
    const option = known[name];
    if (option === undefined) return refused(provider.id, name);
    if (isSaid(option, given)) continue;
    for (const value of [wanted].flat()) {
      const words = wordsFor(option, value);
      if (words === null) return refused(provider.id, name, option);
      planned.push(...words);
    }
  }
  return { arguments: [...planned, ...given] };
}

function wordsFor(option: ProviderOption, value: string): readonly string[] | null {
  switch (option.kind) {
    case 'value':
      if (option.values?.includes(value) === false) return null;
      return filled(option.arguments, '{value}', value);
    case 'choice':
      return Object.hasOwn(option.choices, value) ? (option.choices[value] ?? null) : null;
  }
}

/** Values that an option takes; null for any. */
export function optionValues(option: ProviderOption): readonly string[] | null {
  return option.kind === 'choice' ? Object.keys(option.choices) : option.values;
}

function refused(provider: string, option: string, known?: ProviderOption): OptionOutcome {
  const values = known === undefined ? null : optionValues(known);
  const details = { provider, option, ...(values === null ? {} : { values: [...values] }) };
  return { failure: failure('session-option-unsupported', details) };
}
