/** Where a provider's program is looked for: the PATH that it would have, then the places where installers put such programs. */
import type { ProviderManifest } from './manifest.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** As PATH variables, in the order in which they are searched. Places without a home directory to lie in are left out. */
export function searchPaths(
  { executable }: Pick<ProviderManifest, 'executable'>,
  environment: Variables,
): readonly string[] {
  const places = executable.kind === 'search' ? executable.places : [];
  const expanded = places.flatMap((place) => expandHome(place, environment) ?? []);
  return [environment.PATH, expanded.join(':')].filter(
    (path) => path !== undefined && path !== '',
  ) as string[];
}

/** `~/x` in the home directory of that environment; null when it has none. */
export function expandHome(path: string, { HOME: home }: Variables): string | null {
  if (path !== '~' && !path.startsWith('~/')) return path;
  return home?.startsWith('/') === true ? home + path.slice(1) : null;
}
