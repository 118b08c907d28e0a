// A version in what a program prints: exactly one of three numbers, whatever is said around it.
import type { ProviderFault } from '@roost/protocol';

const VERSION = /(?<![\w.+-])v?(\d{1,12}\.\d{1,12}\.\d{1,12})(-[0-9A-Za-z][0-9A-Za-z.-]*)?(?![\w+]|\.\d)/g;

/** Standard error holds warnings with numbers of their own: it counts only when standard output has none. */
export function parseVersion(
  stdout: string,
  stderr: string,
): { readonly version: string } | { readonly fault: ProviderFault } {
  for (const text of [stdout, stderr]) {
    const versions = new Set(
      [...text.matchAll(VERSION)].map(([, numbers = '', rest = '']) => numbers + rest),
    );
    const [version] = versions;
    if (version !== undefined) return versions.size === 1 ? { version } : { fault: 'version-ambiguous' };
  }
  return { fault: /\d/.test(stdout + stderr) ? 'version-unparseable' : 'version-missing' };
}
