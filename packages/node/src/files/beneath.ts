// The one way from a workspace to an entry of it. Everything that reads or changes files of a workspace by a path from outside
// comes through here.
import { openByDescriptor } from './beneath-by-descriptor.ts';
import { openByPath } from './beneath-by-path.ts';
import type { OpenParent, ParentDirectory } from './parent-directory.ts';

/** Never the weaker way where the stronger one should work: without `/proc`, Linux refuses. */
const openParent: OpenParent = process.platform === 'linux' ? openByDescriptor : openByPath;

/** An entry by its parent and its name. */
export interface Entry extends AsyncDisposable {
  readonly parent: ParentDirectory;
  readonly name: string;
}

/** `path` is a repository path. @throws PathFault. */
export async function openBeneath(root: string, path: string, open: OpenParent = openParent): Promise<Entry> {
  const directories = path.split('/');
  const name = directories.pop() ?? '';
  const parent = await open(root, directories);
  return { parent, name, [Symbol.asyncDispose]: () => parent[Symbol.asyncDispose]() };
}
