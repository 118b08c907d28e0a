/** Three numbers, compared one after the other; what follows them (`-beta.1`) does not count. */
import type { VersionRange } from './manifest.ts';

export type VersionPlace = 'inside' | 'older' | 'newer';

export function placeOfVersion(version: string, { from, below }: VersionRange): VersionPlace {
  if (compareVersions(version, from) < 0) return 'older';
  return below === null || compareVersions(version, below) < 0 ? 'inside' : 'newer';
}

function compareVersions(one: string, other: string): number {
  const [first, second] = [numbersOf(one), numbersOf(other)];
  const at = first.findIndex((number, index) => number !== second[index]);
  return at < 0 ? 0 : (first[at] ?? 0) - (second[at] ?? 0);
}

function numbersOf(version: string): number[] {
  return version
    .replace(/-.*$/, '')
    .split('.')
    .map((part) => Number(part));
}
