// An id that a person recognises, from a directory's name.
import { basename } from 'node:path';
import { WorkspaceId } from '@roost/protocol';

/** Leaves room for a number within the 64 characters of an id. */
const STEM_LENGTH_MAX = 56;

/** The base name in the alphabet of ids, with a number when it is taken. */
export function makeWorkspaceId(root: string, isTaken: (id: string) => boolean): WorkspaceId {
  const stem =
    basename(root)
      .toLowerCase()
      .replace(/[^a-z0-9._-]+/g, '-')
      .replace(/^[^a-z0-9]+|[-._]+$/g, '')
      .slice(0, STEM_LENGTH_MAX) || 'workspace';
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? stem : `${stem}-${number}`;
    if (!isTaken(id)) return WorkspaceId.parse(id);
  }
}
