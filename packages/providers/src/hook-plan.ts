/** Whether and how a launch makes its agent report. What its person has set, or says in this launch, is never displaced. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Transport } from '@roost/protocol';
import { filled, isSaid } from './command-line.ts';
import type { ProviderHooks } from './hook-report.ts';

export interface HookPlace {
  /** Where the files of hooks lie. */
  readonly directory: string;
  /** Whether a file is there, at an absolute path. */
  readonly exists: (path: string) => boolean;
}

export interface HookPlan {
  /** In front of the caller's own. */
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** null: nothing will report. `environment`: what the child has without it. */
export function planHooks(
  { hooks }: { readonly hooks?: ProviderHooks },
  scene: {
    readonly transport: Transport;
    readonly arguments: readonly string[];
    readonly hooks?: HookPlace;
  },
  environment: Readonly<Record<string, string | undefined>>,
): HookPlan | null {
  const { hooks: place, transport } = scene;
  if (hooks === undefined || place === undefined || transport !== 'pty') return null;
  const { given } = hooks;
  const file = hooks.file === null ? '' : join(place.directory, hooks.file.name);
  switch (given.kind) {
    case 'options':
      if (isSaid(given, scene.arguments)) return null;
      return { arguments: filled(given.arguments, '{file}', file), environment: {} };
    case 'environment': {
      const { variables, files } = given.unless;
      const isSet = (name: string) => (environment[name] ?? '') !== '';
      if ([given.variable, ...variables].some(isSet) || files.some(place.exists)) return null;
      const [value = ''] = filled(filled([given.value], '{file}', file), '{url}', pathToFileURL(file).href);
      return { arguments: [], environment: { [given.variable]: value } };
    }
  }
}
