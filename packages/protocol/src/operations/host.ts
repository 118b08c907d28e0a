import * as z from 'zod';
import { DIRECTORIES_PAGE_MAX } from '../bounds.ts';
import { AbsolutePath } from '../ids.ts';
import { lazySchema } from '../lazy-schema.ts';
import { operation } from '../operation.ts';

export const HostDirectory = z.object({
  /** Canonical: where a link leads, not where it lies. */
  path: AbsolutePath,
  name: z.string(),
  isLink: z.boolean(),
});
export type HostDirectory = z.infer<typeof HostDirectory>;

export const HostDirectoryListing = lazySchema(() =>
  z.object({
    /** Canonical. */
    directory: AbsolutePath,
    /** null at the top. */
    parent: AbsolutePath.nullable(),
    /** By path, as UTF-8 bytes; each directory once, whatever links lead to it. */
    entries: z.array(HostDirectory).max(DIRECTORIES_PAGE_MAX),
    /** `after` of the next page; null when there is none. */
    nextAfter: AbsolutePath.nullable(),
    /** More follows, or something could not be told: names that are no plain text, links that could not be resolved. */
    incomplete: z.boolean(),
  }),
);
export type HostDirectoryListing = z.infer<typeof HostDirectoryListing>;

export const hostBrowseDirectories = operation({
  name: 'host.browseDirectories',
  summary:
    "Lists the directories in a directory of the node's machine, page by page; without one, at the top.",
  // An observer of sessions has no business in the whole directory tree of the machine.
  access: 'operator',
  capability: 'host-directory-browse-v1',
  params: () => z.strictObject({ directory: AbsolutePath.optional(), after: AbsolutePath.optional() }),
  result: () => HostDirectoryListing,
  failures: [
    'host-directory-invalid',
    'host-directory-read-failed',
    'host-directory-read-timed-out',
    'backend-busy',
  ],
});
